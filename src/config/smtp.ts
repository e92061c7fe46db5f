import type { SmtpSettings } from '../component/smtp.js';
import { isLoopback } from './endpoint.js';
import type { SmtpConfig } from './file-schema.js';

/** RFC 6409, and RFC 8314 for TLS from the first byte. */
const SUBMISSION_PORT = 587;
const SECURE_PORT = 465;

/** Checks rules of the section `smtp` that the schema cannot express: one message for each violated rule, with the path of its key. */
export function checkSmtp({
  host = '',
  user = '',
  password = '',
  from,
}: SmtpConfig): readonly { readonly path: string; readonly message: string }[] {
  if (host === '') return [];
  return [
    ...(from === undefined
      ? [{ path: '/from', message: 'is required when host is set, for example alerts@example.com' }]
      : []),
    ...(user !== '' && password === ''
      ? [{ path: '/password', message: 'is required when user is set' }]
      : []),
    ...(user === '' && password !== ''
      ? [{ path: '/user', message: 'is required when password is set' }]
      : []),
  ];
}

/** @param config one that is free of errors @returns null if no mail server is configured */
export function smtpSettings(config: SmtpConfig): SmtpSettings | null {
  const { host = '', secure, user = '', password = '', from } = config;
  if (host === '' || from === undefined) return null;
  const port = config.port ?? (secure ? SECURE_PORT : SUBMISSION_PORT);
  return {
    host,
    port,
    secure,
    requireTls: config.require_tls ?? !isLoopback({ host, port }),
    login: user === '' ? null : { user, password },
    from,
  };
}
