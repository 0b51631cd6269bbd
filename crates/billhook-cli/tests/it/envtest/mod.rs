//! The program in place of kube-apiserver and etcd, used as the harness of Go uses them, step by
//! step. Rules are those of ET.

mod certificates;
mod client;
mod environment;
mod etcd;
mod flags;
mod harness;
mod hostile;
mod install;
mod users;
mod webhooks;
