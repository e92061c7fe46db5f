import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';

/** Certificate chain and private key, both PEM. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: Buffer;
  readonly key: Buffer;
}

/**
 * Reads both files and sees whether they fit, so that each engine starts from files that are known to be good.
 *
 * @throws Error that names the file and what is wrong with it.
 */
export async function readTlsFiles(files: { certFile: string; keyFile: string }): Promise<TlsFiles> {
  const [cert, key] = await Promise.all([
    readPem('tls.cert_file', files.certFile),
    readPem('tls.key_file', files.keyFile),
  ]);
  const tls = { ...files, cert, key };
  check(
    () => createSecureContext({ cert }),
    `${files.certFile} (tls.cert_file) holds no certificate in PEM form`,
  );
  check(
    () => createSecureContext({ key }),
    `${files.keyFile} (tls.key_file) holds no private key in PEM form without a passphrase`,
  );
  check(
    () => createSecureContext({ cert, key }),
    `the private key ${files.keyFile} (tls.key_file) does not belong to the certificate ${files.certFile} (tls.cert_file)`,
  );
  return tls;
}

async function readPem(setting: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new Error(`cannot read ${path} (${setting}): ${reason}`, { cause: error });
  }
}

function check(attempt: () => void, message: string): void {
  try {
    attempt();
  } catch (error) {
    throw new Error(message, { cause: error });
  }
}
