import { isDeepStrictEqual } from 'node:util';
import { setMaxListeners } from 'node:events';
import { createTransport, type SendMailOptions } from 'nodemailer';
import type { SmtpSettings } from '../../../component/smtp.js';
import type { Clock } from '../../../component/telemetry.js';
import { FailureReader, NO_MAILBOX, type MailFailure } from './mail-failure.js';

/**
 * How many connections to the mail server there are, and so how many mails are sent at once: more would wait within their time
 * limit.
 */
export const MAIL_CONNECTIONS = 2;

const CONNECTION_MS = 5000;
const GREETING_MS = 5000;
/** How long the server may be silent. */
const SOCKET_MS = 10_000;
/** An idle connection is kept for a burst of mails. */
const IDLE_MS = 5000;
/** The limit for one mail: a server that sends a byte now and then is never silent. */
const MAIL_MS = 30_000;

/** One mailbox: without quotation, lists and comments, which nodemailer would take apart. */
const MAILBOX = /^[^\s\p{Cc}<>()[\]\\,;:"@]+@[^\s\p{Cc}<>()\\,;"@]+$/u;

export interface Mail {
  /** The address of one recipient: `somebody@example.org`. */
  readonly to: string;
  /** One line of plain text. */
  readonly subject: string;
  readonly text: string;
  /** The part before the `@` of the message id: the same in every attempt, so that repeats are recognized. */
  readonly messageName: string;
}

/**
 * How an attempt ended. `sent`: the mail server took the mail. `transient`: it may take it later. `permanent`: it never
 * will.
 */
export type MailResult = { readonly durationMs: number } & (
  | { readonly kind: 'sent'; readonly statusCode: number | null; readonly error: null; readonly detail: null }
  | MailFailure
);

export interface MailerOptions {
  readonly smtp: SmtpSettings;
  readonly clock: Clock;
  /** PEM certificates to trust instead of the public ones. */
  readonly trusted?: readonly string[] | undefined;
}

/** Sends mails to one mail server. It connects when there is something to send. */
export class Mailer {
  #options: MailerOptions;
  #failures: FailureReader;
  #transport: ReturnType<typeof openTransport>;
  readonly #closed = new AbortController();

  constructor(options: MailerOptions) {
    this.#options = options;
    this.#failures = new FailureReader(options.smtp.login);
    this.#transport = openTransport(options);
    setMaxListeners(0, this.#closed.signal);
  }

  /**
   * Makes one attempt. Any response of the mail server is a result.
   *
   * @param signal aborts the attempt
   * @throws the signal's reason if it was aborted before the attempt was over: the mail may have been sent
   */
  async send(mail: Mail, signal: AbortSignal): Promise<MailResult> {
    signal.throwIfAborted();
    if (!MAILBOX.test(mail.to)) return { ...NO_MAILBOX, durationMs: 0 };
    const { clock } = this.#options;
    const started = performance.now();
    const limit = new AbortController();
    const stop = (): void => {
      limit.abort();
    };
    setMaxListeners(0, signal);
    signal.addEventListener('abort', stop);
    this.#closed.signal.addEventListener('abort', stop);
    const cancel = clock.after(MAIL_MS, stop);
    const lasted = (): number => Math.round(performance.now() - started);
    try {
      const { response } = await this.#transport.sendMail({ ...this.#compose(mail), signal: limit.signal });
      const statusCode = Number(/^\d{3}/.exec(response)?.[0] ?? NaN) || null;
      return { kind: 'sent', statusCode, error: null, detail: null, durationMs: lasted() };
    } catch (error) {
      signal.throwIfAborted();
      return { ...this.#failures.read(error, MAIL_MS), durationMs: lasted() };
    } finally {
      cancel();
      signal.removeEventListener('abort', stop);
      this.#closed.signal.removeEventListener('abort', stop);
    }
  }

  /** Sends with other settings from now on. @returns whether they differ */
  use(smtp: SmtpSettings): boolean {
    if (isDeepStrictEqual(smtp, this.#options.smtp)) return false;
    const before = this.#transport;
    this.#options = { ...this.#options, smtp };
    this.#failures = new FailureReader(smtp.login);
    this.#transport = openTransport(this.#options);
    before.close();
    return true;
  }

  /** Breaks off running attempts, and closes all connections. */
  close(): void {
    this.#closed.abort();
    this.#transport.close();
  }

  #compose({ to, subject, text, messageName }: Mail): SendMailOptions {
    const { smtp, clock } = this.#options;
    const sender = addressOf(smtp.from);
    return {
      from: smtp.from,
      to: { name: '', address: to },
      // Fixed here, so that the content of the mail cannot change the recipients.
      envelope: { from: sender, to: [to] },
      subject,
      text,
      date: new Date(clock.now() / 1000),
      messageId: `<${messageName}@${sender.slice(sender.lastIndexOf('@') + 1)}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    };
  }
}

function openTransport({ smtp, trusted }: MailerOptions) {
  const { host, port, secure, requireTls, login } = smtp;
  return createTransport({
    pool: true,
    host,
    port,
    secure,
    requireTLS: requireTls,
    ...(login && { auth: { user: login.user, pass: login.password } }),
    tls: {
      // Where plain text would be accepted, an untrusted certificate does no harm.
      rejectUnauthorized: secure || requireTls,
      ...(trusted && { ca: [...trusted] }),
    },
    maxConnections: MAIL_CONNECTIONS,
    // A mail whose connection ended may have been sent: the caller decides whether to retry.
    maxRequeues: 0,
    idleTimeout: IDLE_MS,
    connectionTimeout: CONNECTION_MS,
    dnsTimeout: CONNECTION_MS,
    greetingTimeout: GREETING_MS,
    socketTimeout: SOCKET_MS,
    maxResponseSize: 64 * 1024,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** `alerts@example.com` of `Jackdaw <alerts@example.com>`. */
function addressOf(from: string): string {
  return /<(.+)>$/.exec(from)?.[1] ?? from;
}
