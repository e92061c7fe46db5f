/** Smaller buffers may be parts of Node's shared pool, which must not be transferred, and cost less to copy than to transfer. */
const LEAST_BYTES = 8192;

/** The bytes in a buffer that can be transferred: their own, unless it is small or holds more than twice as much. */
export function wholeBuffer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes;
  if (byteLength <= LEAST_BYTES || byteLength * 2 < buffer.byteLength || !(buffer instanceof ArrayBuffer))
    return Uint8Array.from(bytes);
  return new Uint8Array(buffer, byteOffset, byteLength);
}
