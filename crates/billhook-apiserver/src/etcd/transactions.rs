//! The transactions of a server: one comparison each, in the shapes that every server of etcd's API
//! accepts (ES-20, ES-80).

use bytes::Bytes;

use super::messages::{
    Compare, Compared, DeleteRangeRequest, Operation, PutRequest, RangeRequest, RequestOp,
    TxnRequest,
};

/// The key with which servers agree on who compacts (ES-50).
pub(super) const COMPACTION_KEY: &[u8] = b"compact_rev_key";

/// The transaction of a write: of a new object at revision 0, of a deletion without a value.
pub(super) fn write(key: Vec<u8>, expected: i64, value: Option<Bytes>, lease: i64) -> TxnRequest {
    let is_creation = expected == 0;
    let compare =
        Compare { target: 2, key: key.clone(), compared: Some(Compared::ModRevision(expected)) };
    let success = match value {
        Some(value) => Operation::Put(PutRequest { key: key.clone(), value, lease }),
        None => Operation::DeleteRange(DeleteRangeRequest { key: key.clone() }),
    };
    let failure = (!is_creation).then(|| get(key)).into_iter().collect();
    TxnRequest { compare: vec![compare], success: vec![of(success)], failure }
}

/// The transaction of a compactor: a server that knows the version of the key writes a revision into it.
pub(super) fn turn(version: i64, revision: i64) -> TxnRequest {
    let key = COMPACTION_KEY.to_vec();
    let compare =
        Compare { target: 0, key: key.clone(), compared: Some(Compared::Version(version)) };
    let value = revision.to_string().into();
    let put = of(Operation::Put(PutRequest { key: key.clone(), value, lease: 0 }));
    TxnRequest { compare: vec![compare], success: vec![put], failure: vec![get(key)] }
}

fn get(key: Vec<u8>) -> RequestOp {
    of(Operation::Range(RangeRequest { key, ..RangeRequest::default() }))
}

fn of(operation: Operation) -> RequestOp {
    RequestOp { operation: Some(operation) }
}
