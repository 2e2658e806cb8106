//! What a request is answered with: the bytes themselves where they are written already, else a response.

use http::Response;

use crate::http::answers::closing;
use crate::http::body::{Content, ResponseBody};
use crate::http::connection::Activity;
use crate::http::written::Written;

/// An answer in one of its two forms.
pub(crate) enum Answered {
    /// As bytes.
    Written(Written),
    /// For hyper; the direct way can write it if it is whole.
    Response(Box<Response<Content>>),
}

impl Answered {
    pub(crate) fn response(response: Response<Content>) -> Self {
        Answered::Response(Box::new(response))
    }

    fn into_response(self) -> Response<Content> {
        match self {
            Answered::Written(written) => written.into_response().map(Content::whole),
            Answered::Response(response) => *response,
        }
    }
}

/// An answer, which keeps its connection busy until it is sent.
pub(crate) struct Reply {
    pub(crate) answered: Answered,
    pub(crate) activity: Option<Activity>,
}

impl Reply {
    /// The answer as bytes; the reply unchanged if hyper has to write it.
    pub(crate) fn into_written(self) -> Result<Written, Self> {
        match self.answered {
            Answered::Written(written) => Ok(written),
            Answered::Response(response) => {
                let written = match response.body() {
                    Content::Whole(body) => Written::of(&response, body),
                    Content::Streamed(_) | Content::File(_) => None,
                };
                written.ok_or(Self {
                    answered: Answered::Response(response),
                    ..self
                })
            }
        }
    }

    /// The same answer, the last one of its connection.
    pub(crate) fn closing(self) -> Self {
        Self {
            answered: Answered::response(closing(self.answered.into_response())),
            ..self
        }
    }

    /// The answer as hyper takes it.
    pub(crate) fn into_hyper(self) -> Response<ResponseBody> {
        let response = self.answered.into_response();
        response.map(|content| ResponseBody::new(content, self.activity))
    }
}
