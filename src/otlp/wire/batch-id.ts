/** The header, and the key of gRPC's metadata, by which a client names a batch, so that a repeat of it adds nothing. */
export const BATCH_ID_HEADER = 'jackdaw-batch-id';
