import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/**
 * Reads the certificates that are trusted in addition to the public ones.
 *
 * @param path of a PEM file (`targets.ca_file`); undefined for none
 * @returns PEM texts
 * @throws Error that names a file that cannot be used
 */
export async function readTrusted(path: string | undefined): Promise<readonly string[]> {
  if (path === undefined) return [];
  const setting = `${path} (targets.ca_file)`;
  const pem = await readFile(path, 'utf8').catch((cause: unknown) => {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw new Error(`cannot read ${setting}: ${reason}`, { cause });
  });
  try {
    new X509Certificate(pem);
  } catch (cause) {
    throw new Error(`${setting} contains no certificate in PEM form`, { cause });
  }
  // An explicit list of certificates makes Node ignore those of this variable.
  const extra = process.env['NODE_EXTRA_CA_CERTS'];
  const more = extra === undefined ? '' : await readFile(extra, 'utf8').catch(() => '');
  return more === '' ? [pem] : [pem, more];
}
