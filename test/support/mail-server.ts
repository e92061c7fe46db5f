import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { Test } from 'tap';

/** A received message. */
export interface ReceivedMail {
  /** `<…@…>` */
  readonly id: string;
  readonly to: readonly string[];
  readonly text: string;
}

/** A mail server on a free port that accepts everything, without TLS. @param options override this */
export async function startMails(
  t: Pick<Test, 'teardown'>,
  options: SMTPServerOptions = {},
): Promise<{ readonly port: number; readonly received: readonly ReceivedMail[] }> {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, { envelope }, done) => {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('end', () => {
        const text = Buffer.concat(pieces).toString();
        const [, id = ''] = /^message-id: (\S+)/im.exec(text) ?? [];
        received.push({ id, to: envelope.rcptTo.map(({ address }) => address), text });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  t.teardown(async () => {
    await new Promise<void>((resolve) => {
      server.close(resolve);
    });
  });
  return { port: (server.server.address() as AddressInfo).port, received };
}
