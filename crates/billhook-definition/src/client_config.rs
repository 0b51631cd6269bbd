//! The address of a webhook, for conversion or admission (WCF-60, CV-105).

use billhook_apimachinery::record;

record! {
    /// Where a webhook is: a URL or a service.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ClientConfig = "WebhookClientConfig" {
        /// The URL.
        pub url: Option<String> = "url" [3] as "URL",
        /// The service in the cluster.
        pub service: Option<ServiceReference> = "service" [1],
        /// The certificates that the server's one is checked against, in PEM (WCF-05).
        pub ca_bundle: Vec<u8> = "caBundle" [2] as "CABundle",
    }

    /// A service in the cluster.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ServiceReference = "ServiceReference" {
        /// The namespace of the service.
        pub namespace: String = "namespace" [1] @required,
        /// Its name.
        pub name: String = "name" [2] @required,
        /// The path of the URL.
        pub path: Option<String> = "path" [3],
        /// The port, 443 by default.
        pub port: Option<i32> = "port" [4],
    }
}
