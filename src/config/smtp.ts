import type { SmtpSettings } from '../component/smtp.js';
import { isLoopback } from './endpoint.js';
import type { SmtpConfig } from './file-schema.js';

/** RFC 6409, and RFC 8314 for TLS from the first byte. */
const SUBMISSION_PORT = 587;
const SECURE_PORT = 465;

/** What the schema of the section `smtp` cannot say: one message for each broken rule, with the path of its key. */
export function checkSmtp({
  host = '',
  user = '',
  password = '',
  from,
}: SmtpConfig): readonly { readonly path: string; readonly message: string }[] {
  if (host === '') return [];
  return [
    ...(from === undefined
      ? [{ path: '/from', message: 'is missing: e-mails need a sender, such as alerts@example.com' }]
      : []),
    ...(user !== '' && password === ''
      ? [{ path: '/password', message: 'is missing: there is a user who logs in with it' }]
      : []),
    ...(user === '' && password !== ''
      ? [{ path: '/user', message: 'is missing: there is a password to log in with' }]
      : []),
  ];
}

/** @param config one that is free of errors @returns null where no mail server is configured */
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
