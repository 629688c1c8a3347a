//! Requests to a hub. The access token goes to the hub alone: redirects are followed here, and those that lead to
//! another server are asked without it.

use std::fmt;
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Duration;

use ureq::http::{HeaderMap, Request, Response, Uri};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector, DefaultConnector};
use ureq::{Agent, Body, Proxy};

use super::watch::Watch;
use super::{ModelError, ModelErrorKind, PullOptions};

/// Environment variable with the address of a mirror, as for Hugging Face's own programs.
const ENDPOINT: &str = "HF_ENDPOINT";
/// Environment variable with the access token for gated and private models.
const TOKEN: &str = "HF_TOKEN";
/// Environment variable with the seconds that a server may take between two packets.
const TIMEOUT: &str = "HF_HUB_DOWNLOAD_TIMEOUT";
const DEFAULT_ENDPOINT: &str = "https://huggingface.co";
const DEFAULT_TIMEOUT: u64 = 30;
/// Seconds of a day.
const DAY: u64 = 24 * 60 * 60;
/// Redirects in a row that are followed.
const REDIRECTS: usize = 10;
/// Longest answer that is read into memory: lists of files.
const LONGEST_TEXT: u64 = 32 << 20;
/// Longest time for such an answer, and for a read of any, in times that a server may be silent.
const SLOWEST_TEXT: u32 = 3;
/// Slowest file in bytes a second. A slower one is asked for again, from where it was.
const SLOWEST_FILE: u64 = 16 << 10;

/// Failed request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Failure {
    pub(super) kind: FailureKind,
    message: String,
    /// Seconds after which the server wants to be asked again.
    pub(super) retry_after: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FailureKind {
    /// No connection.
    Unreachable,
    /// The connection broke, or the server has a problem that may pass.
    Transient,
    /// The server does not have the file.
    Missing,
    /// The server does not give the file.
    Denied,
    /// The request or the answer is wrong. Another attempt fails alike.
    Final,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Failure> for ModelError {
    fn from(failure: Failure) -> ModelError {
        let kind = match failure.kind {
            FailureKind::Missing => ModelErrorKind::NotFound,
            _ => ModelErrorKind::Failed,
        };
        ModelError::new(kind, failure.message)
    }
}

impl Failure {
    pub(super) fn new(kind: FailureKind, message: impl Into<String>) -> Failure {
        Failure { kind, message: message.into(), retry_after: None }
    }
}

/// Answer of a server, after redirects.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    body: Body,
    watch: Watch,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    pub(super) fn reader(self) -> impl Read {
        self.watch.over(self.body.into_reader())
    }
}

/// Size and identity of a file on the server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RemoteFile {
    pub(super) size: u64,
    /// Known for files in large file storage.
    pub(super) sha256: Option<String>,
}

/// Access token of the user.
struct Token {
    text: String,
    /// Variable or file that it is in.
    place: String,
}

/// Client of one hub.
pub(super) struct Client {
    agent: Agent,
    watch: Watch,
    endpoint: String,
    /// Scheme, host and port that the token is for.
    origin: String,
    token: Option<Token>,
    /// Pause before the second attempt.
    pub(super) pause: Duration,
    /// Longest time between two packets.
    pub(super) silence: Duration,
}

impl Client {
    /// `patience`: time to wait for a connection.
    pub(super) fn new(patience: Duration, options: &PullOptions) -> Result<Client, Failure> {
        let endpoint =
            options.endpoint.clone().or_else(|| variable(ENDPOINT)).unwrap_or_else(|| DEFAULT_ENDPOINT.to_owned());
        let endpoint = endpoint.trim_end_matches('/').to_owned();
        let uri: Uri = endpoint.parse().map_err(|_| wrong_endpoint(&endpoint))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(wrong_endpoint(&endpoint));
        }
        let origin = origin(&uri).ok_or_else(|| wrong_endpoint(&endpoint))?;
        let seconds = match variable(TIMEOUT) {
            None => DEFAULT_TIMEOUT,
            Some(text) => {
                text.trim().parse().ok().filter(|seconds| (1..=DAY).contains(seconds)).ok_or_else(|| {
                    Failure::new(
                        FailureKind::Final,
                        format!("{TIMEOUT} is '{text}', not a number of seconds up to {DAY}"),
                    )
                })?
            }
        };
        let silence = Duration::from_secs(seconds);
        let tls = TlsConfig::builder().root_certs(root_certificates(&uri)).build();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_resolve(Some(patience))
            .timeout_connect(Some(patience))
            .timeout_recv_response(Some(silence))
            .timeout_per_read(Some(silence))
            .timeout_per_write(Some(silence))
            .accept_encoding("identity")
            .user_agent(concat!("metalworks/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls)
            .build();
        let watch = Watch::new(silence * SLOWEST_TEXT);
        let connector = DefaultConnector::new().chain(watch.clone());
        let agent = Agent::with_parts(config, connector, DefaultResolver::default());
        Ok(Client { agent, watch, endpoint, origin, token: token()?, pause: options.pause, silence })
    }

    /// Address of a path on the hub.
    pub(super) fn address(&self, path: &str) -> String {
        format!("{}/{path}", self.endpoint)
    }

    /// Asks for size and checksum.
    pub(super) fn describe(&self, address: &str) -> Result<RemoteFile, Failure> {
        // The hub announces both before it redirects to its storage, which may reject this kind of request.
        let answer =
            self.send("HEAD", address, &[], self.silence, |headers| header(headers, "x-linked-size").is_some())?;
        let size = ["x-linked-size", "content-length"].iter().find_map(|name| answer.header(name)?.parse().ok());
        let is_sha256 = |text: &&str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let etag = answer.header("x-linked-etag").map(|etag| etag.trim_matches('"')).filter(is_sha256);
        match size {
            Some(size) => Ok(RemoteFile { size, sha256: etag.map(str::to_ascii_lowercase) }),
            None => Err(Failure::new(FailureKind::Final, format!("{address}: the server did not announce a size"))),
        }
    }

    /// Reads a short text.
    pub(super) fn text(&self, address: &str) -> Result<String, Failure> {
        let answer = self.send("GET", address, &[], self.silence * SLOWEST_TEXT, |_| false)?;
        let mut bytes = Vec::new();
        let read = answer.reader().take(LONGEST_TEXT + 1).read_to_end(&mut bytes);
        read.map_err(|error| broken(address, &error))?;
        if bytes.len() as u64 > LONGEST_TEXT {
            let problem = format!("cannot download {address}: the answer is too long for a list of files");
            return Err(Failure::new(FailureKind::Final, problem));
        }
        String::from_utf8(bytes)
            .map_err(|_| Failure::new(FailureKind::Final, format!("cannot download {address}: it is not UTF-8")))
    }

    /// Requests a part of a file, which is its end. `etag`: of the bytes before it, so that a server that has others by now
    /// sends all.
    pub(super) fn get(
        &self,
        address: &str,
        part: std::ops::Range<u64>,
        etag: Option<&str>,
    ) -> Result<Answer, Failure> {
        let mut headers = Vec::new();
        let (from, size) = (part.start, part.end - part.start);
        if from > 0 {
            headers.push(("range", format!("bytes={from}-")));
            headers.extend(etag.map(|etag| ("if-range", etag.to_owned())));
        }
        let time = self.silence * SLOWEST_TEXT + Duration::from_secs(size / SLOWEST_FILE);
        self.send("GET", address, &headers, time, |_| false)
    }

    /// Sends a request, and follows redirects until `enough` is true of the headers of one. The body of the answer ends
    /// with an error after `time`.
    fn send(
        &self,
        method: &str,
        address: &str,
        headers: &[(&str, String)],
        time: Duration,
        enough: impl Fn(&HeaderMap) -> bool,
    ) -> Result<Answer, Failure> {
        let mut uri: Uri = address.parse().map_err(|_| wrong_endpoint(address))?;
        for _ in 0..=REDIRECTS {
            let response = self.send_once(method, &uri, headers, time).map_err(|error| failure(address, &error))?;
            let status = response.status().as_u16();
            let is_redirect = matches!(status, 301 | 302 | 303 | 307 | 308);
            if is_redirect && !enough(response.headers()) {
                uri = redirect(address, &uri, response.headers())?;
                continue;
            }
            return match status {
                200..=399 | 416 => {
                    let (parts, body) = response.into_parts();
                    Ok(Answer { status, headers: parts.headers, body, watch: self.watch.clone() })
                }
                status => Err(self.refusal(address, status, response.headers())),
            };
        }
        Err(Failure::new(FailureKind::Final, format!("{address}: the server redirects without end")))
    }

    fn send_once(
        &self,
        method: &str,
        uri: &Uri,
        headers: &[(&str, String)],
        time: Duration,
    ) -> Result<Response<Body>, ureq::Error> {
        let mut request = Request::builder().method(method).uri(uri.clone());
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        if let Some(token) = self.token.as_ref().filter(|_| origin(uri).as_ref() == Some(&self.origin)) {
            request = request.header("authorization", format!("Bearer {}", token.text));
        }
        let request = request.body(())?;
        let request = self.agent.configure_request(request).proxy(proxy(uri)?).timeout_recv_body(Some(time));
        self.agent.run(request.build())
    }

    /// Explains a status that is an error.
    fn refusal(&self, address: &str, status: u16, headers: &HeaderMap) -> Failure {
        let code = header(headers, "x-error-code").unwrap_or_default();
        let token = self.token.as_ref();
        let (kind, advice) = match (status, code) {
            (_, "GatedRepo") => (
                FailureKind::Denied,
                format!(
                    "access denied: accept the conditions of the model on its web page{}",
                    if token.is_some() { "" } else { ", and set HF_TOKEN to an access token of yours" }
                ),
            ),
            (404, "RevisionNotFound") => {
                (FailureKind::Missing, "there is no such revision: check the name after @".to_owned())
            }
            (404, _) => (
                FailureKind::Missing,
                "there is no such file: check the names of user, repository and file".to_owned(),
            ),
            // The hub hides private repositories, and says the same of those that are not there.
            (401 | 403, _) => (
                FailureKind::Denied,
                match token {
                    // The hub refuses a token that has expired even where none is needed.
                    Some(Token { place, .. }) => {
                        format!(
                            "access denied: check the names, and that the token in {place} is valid and has access"
                        )
                    }
                    None => format!(
                        "access denied: check the names, or set {TOKEN} to a Hugging Face token that has access"
                    ),
                },
            ),
            (407, _) => (FailureKind::Final, "the proxy wants a user and a password".to_owned()),
            (429, _) => (FailureKind::Transient, "too many requests: try again later".to_owned()),
            (500..=599, _) => (FailureKind::Transient, "the server has a problem: try again later".to_owned()),
            _ => (FailureKind::Final, "the server rejects the request".to_owned()),
        };
        let retry_after = header(headers, "retry-after").and_then(|seconds| seconds.trim().parse().ok());
        Failure {
            kind,
            message: format!("cannot download {address}: {advice} (HTTP status {status})"),
            retry_after,
        }
    }
}

/// Explains a connection that is as good as broken.
pub(super) fn slow(address: &str) -> Failure {
    Failure::new(
        FailureKind::Transient,
        format!("cannot download {address}: the server is too slow: try again later"),
    )
}

/// Explains a connection that broke while an answer was read.
pub(super) fn broken(address: &str, error: &io::Error) -> Failure {
    Failure::new(
        FailureKind::Transient,
        format!("cannot download {address}: the connection broke: try again to resume ({error})"),
    )
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

fn wrong_endpoint(address: &str) -> Failure {
    Failure::new(
        FailureKind::Final,
        format!("'{address}' is not an address: set {ENDPOINT} to one like {DEFAULT_ENDPOINT}"),
    )
}

/// Scheme, host and port in one form.
fn origin(uri: &Uri) -> Option<String> {
    let scheme = uri.scheme_str()?;
    let port = uri.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
    Some(format!("{scheme}://{}:{port}", uri.host()?.to_ascii_lowercase()))
}

/// Address that a redirect leads to.
fn redirect(address: &str, from: &Uri, headers: &HeaderMap) -> Result<Uri, Failure> {
    let wrong = |why: &str| Err(Failure::new(FailureKind::Final, format!("{address}: the server redirects {why}")));
    let Some(location) = header(headers, "location") else { return wrong("to no address") };
    let scheme = from.scheme_str().unwrap_or_default();
    let absolute = match location {
        _ if location.starts_with("//") => format!("{scheme}:{location}"),
        _ if location.starts_with('/') => {
            format!("{scheme}://{}{location}", from.authority().map_or("", |authority| authority.as_str()))
        }
        _ => location.to_owned(),
    };
    match absolute.parse::<Uri>() {
        Ok(to) if scheme == "https" && to.scheme_str() != Some("https") => {
            wrong("to an address without encryption")
        }
        Ok(to) if matches!(to.scheme_str(), Some("http" | "https")) && to.host().is_some() => Ok(to),
        _ => wrong(&format!("to '{location}', which is not an address")),
    }
}

/// The user's token: of the variable, or of the file that Hugging Face's programs write.
fn token() -> Result<Option<Token>, Failure> {
    let (token, place) = match variable(TOKEN) {
        Some(token) => (token, TOKEN.to_owned()),
        None => {
            let Some(path) = token_file() else { return Ok(None) };
            match std::fs::read_to_string(&path) {
                Ok(token) if !token.trim().is_empty() => (token, format!("'{}'", path.display())),
                _ => return Ok(None),
            }
        }
    };
    let text = token.trim().to_owned();
    match text.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(Some(Token { text, place })),
        false => Err(Failure::new(FailureKind::Final, format!("the token in {place} has invalid characters"))),
    }
}

fn token_file() -> Option<PathBuf> {
    let folder = || {
        let caches = variable("XDG_CACHE_HOME").map(PathBuf::from);
        let caches = caches.or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".cache")));
        let home = variable("HF_HOME").map(PathBuf::from);
        home.or_else(|| caches.map(|caches| caches.join("huggingface")))
    };
    variable("HF_TOKEN_PATH").map(PathBuf::from).or_else(|| folder().map(|folder| folder.join("token")))
}

/// The system's certificates, to which companies add their own; Mozilla's where the system has none.
fn root_certificates(endpoint: &Uri) -> RootCerts {
    if endpoint.scheme_str() == Some("http") {
        return RootCerts::WebPki;
    }
    let certificates = rustls_native_certs::load_native_certs().certs;
    match certificates.is_empty() {
        true => RootCerts::WebPki,
        false => certificates.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).into(),
    }
}

/// The proxy for an address, as curl chooses it.
fn proxy(uri: &Uri) -> Result<Option<Proxy>, ureq::Error> {
    let host = uri.host().unwrap_or_default();
    let exceptions = variable("no_proxy").or_else(|| variable("NO_PROXY")).unwrap_or_default();
    if is_exception(host, &exceptions) {
        return Ok(None);
    }
    let names = match uri.scheme_str() {
        Some("https") => ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
        _ => ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"],
    };
    names.into_iter().find_map(variable).map(|proxy| Proxy::new(proxy.trim())).transpose()
}

/// True if a host, or a domain that it is in, is listed.
fn is_exception(host: &str, list: &str) -> bool {
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    list.split([',', ' ']).map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| {
        let entry = entry.trim_start_matches("*.").trim_start_matches('.').to_ascii_lowercase();
        entry == "*" || host == entry || host.strip_suffix(&entry).is_some_and(|before| before.ends_with('.'))
    })
}

/// Explains a failed request.
fn failure(address: &str, error: &ureq::Error) -> Failure {
    use ureq::{Error, Timeout};

    let connecting = "cannot connect: check the network, and HTTPS_PROXY if there is a proxy";
    let securing = "no secure connection: if a proxy has a certificate of its own, SSL_CERT_FILE must name it";
    let (kind, advice) = match error {
        Error::HostNotFound
        | Error::ConnectionFailed
        | Error::ConnectProxyFailed(_)
        | Error::Timeout(Timeout::Resolve | Timeout::Connect) => (FailureKind::Unreachable, connecting),
        Error::Io(error) if is_unreachable(error) => (FailureKind::Unreachable, connecting),
        Error::InvalidProxyUrl => (FailureKind::Final, "the address of the proxy is wrong: check HTTPS_PROXY"),
        Error::Tls(_) | Error::Rustls(_) => (FailureKind::Final, securing),
        // The handshake reports so that it does not accept the certificate.
        Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => (FailureKind::Final, securing),
        Error::Timeout(_) => (FailureKind::Transient, "the server does not answer: try again later"),
        Error::Io(_) => (FailureKind::Transient, "the connection broke: try again to resume"),
        _ => (FailureKind::Final, "the server's answer cannot be read"),
    };
    Failure::new(kind, format!("cannot download {address}: {advice} ({error})"))
}

/// True if there was no connection.
fn is_unreachable(error: &io::Error) -> bool {
    let kinds = [
        io::ErrorKind::ConnectionRefused,
        io::ErrorKind::HostUnreachable,
        io::ErrorKind::NetworkUnreachable,
        io::ErrorKind::AddrNotAvailable,
    ];
    // The standard library has no kind for names that are not found.
    kinds.contains(&error.kind()) || error.to_string().starts_with("failed to lookup address")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> Uri {
        text.parse().expect("it is an address")
    }

    #[test]
    fn redirects_lead_to_addresses_and_keep_encryption() {
        let to = |from: &str, location: &str| {
            let headers =
                HeaderMap::from_iter([(ureq::http::header::LOCATION, location.parse().expect("it is a header"))]);
            redirect("x", &uri(from), &headers).map(|uri| uri.to_string())
        };
        assert_eq!(to("https://a/b", "/c?d"), Ok("https://a/c?d".into()));
        assert_eq!(to("https://a/b", "//e/f"), Ok("https://e/f".into()));
        assert_eq!(to("http://a:80/b", "https://e/f"), Ok("https://e/f".into()));
        let error = to("https://a/b", "http://e/f").expect_err("no encryption").to_string();
        assert!(error.contains("without encryption"), "{error}");
        assert!(to("https://a/b", "ftp://e/f").is_err() && to("http://a/b", "file:///etc/passwd").is_err());
    }

    #[test]
    fn the_origin_has_a_port() {
        assert_eq!(origin(&uri("https://Hub/x")), origin(&uri("https://hub:443/y")));
        assert_ne!(origin(&uri("https://hub/x")), origin(&uri("https://hub.evil/x")));
        assert_ne!(origin(&uri("https://hub/x")), origin(&uri("http://hub/x")));
    }

    #[test]
    fn domains_are_exceptions_with_all_hosts_in_them() {
        let list = "localhost, .example.com,*.example.org 10.0.0.1";
        for host in ["localhost", "a.example.com", "EXAMPLE.com", "b.example.org", "10.0.0.1"] {
            assert!(is_exception(host, list), "{host}");
        }
        for host in ["notexample.com", "example.com.evil", "10.0.0.11", "hub"] {
            assert!(!is_exception(host, list), "{host}");
        }
        assert!(is_exception("any", "*") && !is_exception("any", ""));
    }
}
