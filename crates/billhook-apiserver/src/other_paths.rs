//! Paths that others serve beside the server's own.

use billhook_apimachinery::Status;
use bytes::Bytes;

use crate::answer::Body;
use crate::response::{Form, Response};
use crate::server::Server;

impl Server {
    /// Answers a request for a path of the caller's own with a function, as the server answers for its
    /// own paths: the body is read within its limits, users need permission for the path as for any
    /// other, failures have its form. The log of requests does not have it.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use billhook_apiserver::Server;
    /// use bytes::Bytes;
    ///
    /// let server = Server::builder().build();
    /// let request = http::Request::get("/shop/status").body(String::new())?;
    /// let open = async |_| Ok(http::Response::new(Bytes::from("open")));
    /// assert_eq!(server.answer_with(request, open).await.status(), 200);
    /// # Ok(()) }
    /// ```
    pub async fn answer_with<B, F>(
        &self,
        request: http::Request<B>,
        answer: impl FnOnce(http::Request<Bytes>) -> F + Send,
    ) -> Response
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
        F: Future<Output = Result<http::Response<Bytes>, Status>> + Send,
    {
        let (parts, body) = request.into_parts();
        let mut request = http::Request::new(());
        request.method_mut().clone_from(&parts.method);
        request.uri_mut().clone_from(&parts.uri);
        request.headers_mut().clone_from(&parts.headers);
        let mut read = self.read(parts, body).await;
        let answer = match self.authorize(&mut read).and_then(|()| read.body().cloned()) {
            Ok(body) => answer(request.map(|()| body)).await,
            Err(status) => Err(status),
        };
        let answer = match answer {
            Ok(answer) => answer.map(Body::whole),
            Err(status) => Form::of_failures(&read).status(&status),
        };
        self.complete(&read, answer)
    }
}
