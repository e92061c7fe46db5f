import { randomFillSync } from 'node:crypto';

/** Any 8-4-4-4-12 hex string (decisions §1): ids derived from OTLP carry no RFC version bits. */
export const UUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';

const UUID = new RegExp(UUID_PATTERN);

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** A time-ordered UUIDv7 (RFC 9562 §5.7), lower case. @param nowMs milliseconds since the epoch */
export function uuidV7(nowMs: number): string {
  const bytes = Buffer.allocUnsafe(16);
  randomFillSync(bytes, 6);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
