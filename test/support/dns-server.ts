import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Test } from 'tap';

/** The DNS server's entry for a name: its addresses, or an error. */
export type DnsAnswer = readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | 'silence';

export interface DnsServer {
  /** `127.0.0.1:40123` */
  readonly address: string;
  /** Queries in order: `A hook.test`. */
  readonly questions: readonly string[];
  /** Resolves after this many queries. */
  readonly asked: (count: number) => Promise<void>;
  /** Number of open client sockets; both address families of a lookup share one. */
  readonly waiting: () => Promise<number>;
}

const TYPES = new Map([
  [1, 'A'],
  [28, 'AAAA'],
]);
const CODES = { NXDOMAIN: 3, SERVFAIL: 2 } as const;

/**
 * A DNS server over UDP on a free local port.
 *
 * @param answer to `A hook.test`, with addresses of that family only
 */
export async function startDnsServer(
  t: Pick<Test, 'teardown'>,
  answer: (question: string) => DnsAnswer,
): Promise<DnsServer> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.teardown(() => socket.close());
  const questions: string[] = [];
  const ports = new Set<number>();
  socket.on('message', (message, { address, port }) => {
    const { question, end } = readQuestion(message);
    questions.push(question);
    ports.add(port);
    const answered = answer(question);
    if (answered !== 'silence') socket.send(reply(message.subarray(0, end), answered), port, address);
    socket.emit('asked');
  });
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    asked: async (count) => {
      while (questions.length < count) await once(socket, 'asked');
    },
    waiting: async () => (await Promise.all(Array.from(ports, isTaken))).filter(Boolean).length,
  };
}

/** Whether a socket uses this port, so that no other can. */
async function isTaken(port: number): Promise<boolean> {
  const probe = createSocket('udp4').bind(port, '127.0.0.1');
  const isFree = await once(probe, 'listening').then(
    () => true,
    () => false,
  );
  probe.close();
  return !isFree;
}

/** @returns `end`: end offset of the first question */
function readQuestion(message: Buffer): { readonly question: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = TYPES.get(message.readUInt16BE(at + 1)) ?? 'other';
  return { question: `${type} ${labels.join('.').toLowerCase()}`, end: at + 5 };
}

/** @param asked header and question */
function reply(asked: Buffer, answer: Exclude<DnsAnswer, 'silence'>): Buffer {
  const addresses = typeof answer === 'string' ? [] : answer;
  const head = Buffer.from(asked);
  // A response; recursion was requested and is available.
  head.writeUInt16BE(0x8180 | (typeof answer === 'string' ? CODES[answer] : 0), 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...addresses.map(record)]);
}

function record(address: string): Buffer {
  const bytes = bytesOf(address);
  const head = Buffer.alloc(12);
  // Pointer to the name in the question.
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(bytes.length === 4 ? 1 : 28, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(60, 6);
  head.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([head, bytes]);
}

/** IPv6 address with one `::`. */
function bytesOf(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  const [head = [], tail = []] = address.split('::').map((half) => half.split(':').filter(Boolean));
  const groups = [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => '0'), ...tail];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
