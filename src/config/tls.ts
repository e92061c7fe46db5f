import { Type, type Static, type TOptional } from 'typebox';
import type { Resource } from '../component/factory.js';
import type { TlsOptions } from '../component/host.js';
import { choice, filePath, section } from './schema.js';

const TlsSchema = section(
  {
    cert_file: filePath({ description: 'PEM file with the certificate and its chain.' }),
    key_file: filePath({ description: 'PEM file with the private key.' }),
    client_ca_file: Type.Optional(
      filePath({
        description:
          'PEM file with the CAs that client certificates must come from. If absent, clients need none.',
      }),
    ),
    min_version: choice(['TLSv1.2', 'TLSv1.3'], {
      default: 'TLSv1.2',
      description: 'Minimum TLS version.',
    }),
  },
  {
    description: 'Certificate for HTTPS, reloaded when its files change. If absent, plain HTTP is served.',
    isOptional: true,
  },
);

type TlsConfig = Static<typeof TlsSchema>;

/** The section `tls` of a listener; absent for plain HTTP. Read it with {@link tlsOptions}. */
export function tlsFiles(): TOptional<typeof TlsSchema> {
  return Type.Optional(TlsSchema);
}

/** The section as `Host.listener` takes it. */
export function tlsOptions(tls: TlsConfig): TlsOptions;
export function tlsOptions(tls: TlsConfig | undefined): TlsOptions | undefined;
export function tlsOptions(tls: TlsConfig | undefined): TlsOptions | undefined {
  return (
    tls && {
      certFile: tls.cert_file,
      keyFile: tls.key_file,
      clientCaFile: tls.client_ca_file,
      minVersion: tls.min_version,
    }
  );
}

/** The files of the section, as resources of a component's factory; empty if the section is absent. */
export function tlsResources(listener: string, tls: TlsConfig | undefined): readonly Resource[] {
  return tls === undefined ? [] : [{ kind: 'tls_files', listener, ...tlsOptions(tls) }];
}
