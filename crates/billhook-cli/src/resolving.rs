//! `--resolve`: the addresses of Services.

use billhook_webhook_client::StaticResolver;

/// The address of a Service.
#[derive(Clone, Debug)]
pub(crate) struct Resolve {
    service: String,
    namespace: String,
    address: String,
}

/// Reads `SERVICE.NAMESPACE=HOST:PORT`.
pub(crate) fn resolve(text: &str) -> Result<Resolve, String> {
    let form = "expected SERVICE.NAMESPACE=HOST:PORT";
    let (name, address) = text.split_once('=').ok_or(form)?;
    let (service, namespace) = name.split_once('.').ok_or(form)?;
    let (host, port) = address.rsplit_once(':').ok_or(form)?;
    if [service, namespace, host].contains(&"") || port.parse::<u16>().is_err() {
        return Err(form.to_owned());
    }
    Ok(Resolve {
        service: service.to_owned(),
        namespace: namespace.to_owned(),
        address: address.to_owned(),
    })
}

/// Returns what knows the given Services.
pub(crate) fn resolver(services: &[Resolve]) -> StaticResolver {
    services.iter().fold(StaticResolver::default(), |resolver, to| {
        resolver.with(&to.namespace, &to.service, &to.address)
    })
}
