import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { LookupAddress } from 'node:dns';
import type { Test } from 'tap';
import { AddressPolicy } from '../../src/delivery/senders/webhook/address-policy.js';
import {
  WebhookSender,
  type AttemptResult,
  type SenderOptions,
} from '../../src/delivery/senders/webhook/sender.js';
import { HandClock } from './hand-clock.js';
import { AUTHORITY } from './webhook-certificates.js';

export const TIMEOUT_MS = 15_000;
export const CONNECT_TIMEOUT_MS = 5000;

export interface TestSender {
  readonly sender: WebhookSender;
  readonly clock: HandClock;
  /** Looked-up names in order. */
  readonly lookups: readonly string[];
  readonly send: (url: string, signal?: AbortSignal) => Promise<AttemptResult>;
}

/** Names with their addresses for each lookup. */
export type Names = (hostname: string) => readonly string[];

/**
 * A sender that trusts the test CA and may reach 127.0.0.1, where all names resolve.
 *
 * @param names override this
 */
export async function startSender(
  t: Pick<Test, 'teardown'>,
  { names = () => ['127.0.0.1'], ...options }: Partial<SenderOptions> & { readonly names?: Names } = {},
): Promise<TestSender> {
  const clock = new HandClock();
  const lookups: string[] = [];
  const sender = new WebhookSender({
    policy: new AddressPolicy(['127.0.0.1/32']),
    trusted: [AUTHORITY],
    timeoutMs: TIMEOUT_MS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    clock,
    resolve: async (hostname) => {
      lookups.push(hostname);
      return names(hostname).map(addressOf);
    },
    ...options,
  });
  t.teardown(() => sender.close());
  const request = { headers: { 'Content-Type': 'application/json' }, body: Buffer.from('{"id":"1"}') };
  return {
    sender,
    clock,
    lookups,
    send: (url, signal = new AbortController().signal) => sender.send({ url, ...request }, signal),
  };
}

function addressOf(address: string): LookupAddress {
  return { address, family: address.includes(':') ? 6 : 4 };
}

/** Resolves when a sender has read the next response head. */
export function nextAnswerHead(): Promise<void> {
  return new Promise((resolve) => {
    const onHead = (): void => {
      unsubscribe('undici:request:headers', onHead);
      resolve();
    };
    subscribe('undici:request:headers', onHead);
  });
}
