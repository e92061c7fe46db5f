import { readFile } from 'node:fs/promises';
import { Type } from 'typebox';
import { filePath } from './schema.js';

/** Keys of the section `tls` of a client, in addition to the trusted certificates. */
export const clientTlsFields = {
  cert_file: Type.Optional(filePath({ description: 'PEM file with the client certificate.' })),
  key_file: Type.Optional(filePath({ description: 'PEM file with the key of the client certificate.' })),
  server_name_override: Type.Optional(
    Type.String({ minLength: 1, description: 'Host name that the server certificate must match.' }),
  ),
  insecure_skip_verify: Type.Boolean({
    default: false,
    description: 'Whether to skip verification of the server certificate. Insecure: allows interception.',
  }),
};

/** Checks what the schema cannot express about a section `tls`. */
export function checkClientTls(
  tls: { readonly cert_file?: string; readonly key_file?: string } | undefined,
): readonly { readonly path: string; readonly message: string }[] {
  if (!tls || (tls.cert_file === undefined) === (tls.key_file === undefined)) return [];
  const path = tls.cert_file === undefined ? '/tls/key_file' : '/tls/cert_file';
  return [{ path, message: 'needs both cert_file and key_file' }];
}

/** @param setting the key that names the file @throws Error that names a file that cannot be read */
export async function readPem(setting: string, path: string | undefined): Promise<Buffer | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readFile(path);
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw new Error(`cannot read ${path} (${setting}): ${reason}`, { cause });
  }
}
