import { ServerCredentials } from '@grpc/grpc-js';
import type { TlsOptions } from '../../component/host.js';
import type { Clock, Logger } from '../../component/telemetry.js';
import { readTlsFiles, secureContext, type TlsFiles } from '../../http/tls.js';
import { TlsReload } from '../../http/tls-reload.js';

/** What a gRPC server shows its clients, and the watch over the files that it comes from. */
export interface GrpcCredentials {
  readonly credentials: ServerCredentials;
  close(): void;
}

/** @throws Error that names the file and what is wrong with it */
export async function openGrpcCredentials(
  tls: TlsOptions | undefined,
  tools: { readonly clock: Clock; readonly logger: Logger },
): Promise<GrpcCredentials> {
  if (tls === undefined) return { credentials: ServerCredentials.createInsecure(), close: () => undefined };
  const files = await readTlsFiles(tls);
  const credentials = new FileCredentials(files);
  const reload = new TlsReload(
    files,
    (changed) => {
      credentials.replace(changed);
    },
    tools,
  );
  return {
    credentials,
    close: () => {
      reload.close();
    },
  };
}

class FileCredentials extends ServerCredentials {
  constructor(files: TlsFiles) {
    const isClientAsked = files.clientCa !== undefined;
    super({ requestCert: isClientAsked, rejectUnauthorized: isClientAsked }, secureContext(files));
  }

  replace(files: TlsFiles): void {
    this.updateSecureContextOptions(secureContext(files));
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}
