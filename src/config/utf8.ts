import { isUtf8 } from 'node:buffer';

/**
 * The text of a file that people write.
 *
 * @throws Error that says what to do if the bytes are not UTF-8: decoded leniently, a password would silently be another one
 */
export function decodeUtf8(bytes: Buffer): string {
  const mark = bytes.length < 2 ? 0 : bytes.readUInt16BE(0);
  if (mark === 0xfffe || mark === 0xfeff || bytes.includes(0))
    throw new Error(
      'it is not UTF-8 but UTF-16 or binary: save it as UTF-8 (in PowerShell: Out-File -Encoding utf8)',
    );
  if (!isUtf8(bytes)) throw new Error('it is not UTF-8: save it as UTF-8');
  return bytes.toString('utf8');
}
