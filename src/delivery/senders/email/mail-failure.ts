import { isIP } from 'node:net';
import type { SmtpSettings } from '../../../component/smtp.js';
import { shorten } from '../../../component/item-problems.js';
import { redactor } from '../../../telemetry/redact.js';
import { oneLine } from './one-line.js';

/** Why a mail was not sent. */
export interface MailFailure {
  readonly kind: 'transient' | 'permanent';
  /** The SMTP code; null if the server did not answer. */
  readonly statusCode: number | null;
  /** One sentence for the user, without network addresses and without the password. */
  readonly error: string;
  /** The cause, for the operator's log: it may name addresses. */
  readonly detail: string;
}

const BAD_ADDRESS = 'The address is not valid';

/** The failure for a recipient that is not a mailbox. */
export const NO_MAILBOX: MailFailure = {
  kind: 'permanent',
  statusCode: null,
  error: BAD_ADDRESS,
  detail: 'the address is not a mailbox',
};

/** Fields of a `nodemailer` error. */
interface SmtpError {
  readonly code: string;
  /** The system's code, where `code` names only the layer. */
  readonly originalCode: string;
  /** The command that failed: `RCPT TO`. */
  readonly command: string;
  readonly response: string;
  readonly responseCode: number | null;
  readonly message: string;
}

/** Texts for codes of nodemailer and Node, used without a server response. */
const SENTENCES: readonly (readonly [codes: RegExp, sentence: string])[] = [
  [/^ECONNREFUSED$/, 'The mail server refused the connection'],
  [/^(EDNS|ENOTFOUND|EAI_.*)$/, 'Cannot resolve the host name of the mail server'],
  [/^ETIMEDOUT$/, 'The mail server did not answer in time'],
  [/^E(NETUNREACH|HOSTUNREACH|ADDRNOTAVAIL|NETDOWN|HOSTDOWN)$/, 'Cannot reach the mail server'],
  [
    /^(ETLS|EPROTO|ERR_SSL_.*|ERR_TLS_.*|CERT_.*|(DEPTH_ZERO_)?SELF_SIGNED_CERT.*|UNABLE_TO_.*)$/,
    'The TLS handshake with the mail server failed',
  ],
  [/^EPROTOCOL$/, 'The mail server does not speak SMTP'],
  [/^(ENOAUTH|EAUTH)$/, 'The mail server supports no known login method'],
  [/^EENVELOPE$/, BAD_ADDRESS],
  [/^EMESSAGE$/, 'The mail server does not accept mails of this size'],
];

const ADDRESS = '[address]';

/** Commands about the mail: responses to others concern the connection, and may be temporary. */
const OF_THE_MAIL = /^(MAIL FROM|RCPT TO|DATA)$/;

/** Says why mails were not sent. */
export class FailureReader {
  readonly #redact: (text: string) => string;

  /** @param login its password is removed from every text, even if the server repeats it in the form that was sent */
  constructor(login: SmtpSettings['login']) {
    this.#redact = redactor(login === null ? [] : [login.password, ...sentPasswords(login)]);
  }

  /** @param limitMs of the whole mail */
  read(cause: unknown, limitMs: number): MailFailure {
    const error = smtpErrorOf(cause);
    const detail = shorten(this.#redact(firstLine(error.message)));
    const statusCode = error.responseCode;
    if (error.code === 'EABORT')
      return {
        kind: 'transient',
        statusCode,
        error: `The mail server did not finish within ${limitMs} ms`,
        detail,
      };
    return {
      kind: isPermanent(error) ? 'permanent' : 'transient',
      statusCode,
      error: this.#describe(error),
      detail,
    };
  }

  #describe({ code, originalCode, command, response, responseCode, message }: SmtpError): string {
    // The server's text may repeat the credentials.
    if (code === 'EAUTH' && responseCode !== null)
      return `The mail server rejected user and password (${responseCode})`;
    // Its response to STARTTLS is less helpful than the missing TLS.
    if (responseCode !== null && code !== 'ETLS')
      return `The mail server answered: ${shorten(withoutAddresses(this.#redact(firstLine(response))))}`;
    const codes = [originalCode, code].filter((known) => known !== '');
    for (const known of codes) {
      const found = SENTENCES.find(([pattern]) => pattern.test(known));
      if (found) return found[1];
    }
    if (/^E(CONNECTION|SOCKET|CONNRESET|PIPE)$/.test(code) || message.includes('closed'))
      return 'The mail server closed the connection too early';
    return command === '' ? 'The mail could not be sent' : `The mail could not be sent (${command})`;
  }
}

/** As AUTH LOGIN and AUTH PLAIN send it (RFC 4616). */
function sentPasswords({ user, password }: NonNullable<SmtpSettings['login']>): readonly string[] {
  return [password, `\0${user}\0${password}`].map((text) => Buffer.from(text, 'utf8').toString('base64'));
}

/** 503 is about a confused session, not about the mail. */
function isPermanent({ code, command, responseCode }: SmtpError): boolean {
  if (responseCode === null) return code === 'EENVELOPE' || code === 'EMESSAGE';
  return responseCode >= 500 && responseCode !== 503 && OF_THE_MAIL.test(command);
}

function smtpErrorOf(cause: unknown): SmtpError {
  const fields = (typeof cause === 'object' && cause !== null ? cause : {}) as Readonly<
    Record<string, unknown>
  >;
  const text = (name: string): string => (typeof fields[name] === 'string' ? fields[name] : '');
  const { responseCode } = fields;
  return {
    code: text('code'),
    originalCode: text('originalCode'),
    command: text('command'),
    response: text('response'),
    responseCode: typeof responseCode === 'number' && responseCode > 0 ? responseCode : null,
    message: cause instanceof Error ? cause.message : String(cause),
  };
}

function firstLine(text: string): string {
  const [line = ''] = text.split(/[\r\n]/, 1);
  return oneLine(line);
}

function withoutAddresses(text: string): string {
  return text.replaceAll(/[0-9A-Fa-f:.]+/g, (word) => {
    const [bare = ''] = /^.*[^.:]/.exec(word) ?? [];
    if (isIP(word) !== 0) return ADDRESS;
    return isIP(bare) === 0 ? word : ADDRESS + word.slice(bare.length);
  });
}
