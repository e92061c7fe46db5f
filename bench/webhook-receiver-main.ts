import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { RECEIVER_KEY, VALID } from '../test/support/webhook-certificates.js';
import { EVENT_OUTCOME } from './event-source.js';
import { LatencyRecorder } from './latency-recorder.js';
import type { Arrival, ReceiverCommand, ReceiverReport } from './webhook-receiver.js';

interface Event {
  readonly timestamp: string;
  readonly data: { readonly trace_id: string; readonly outcome: string | null };
}

// Main file of WebhookReceiver (webhook-receiver.ts).
let latency = new LatencyRecorder();
let arrivals: Arrival[] = [];
let requests = 0;
let repeats = 0;

const server = createServer({ cert: VALID, key: RECEIVER_KEY }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { timestamp, data } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Event;
    requests++;
    if (request.headers['x-service-attempt'] !== '1') repeats++;
    else if (data.outcome === EVENT_OUTCOME) {
      const at = Date.now();
      latency.record(at - Date.parse(timestamp));
      arrivals.push({ traceId: data.trace_id, at });
    }
    response.end();
  });
});
server.listen(0, '127.0.0.1', () => {
  report({ kind: 'listening', port: (server.address() as AddressInfo).port });
});

process.on('message', (message) => {
  if ((message as ReceiverCommand) === 'reset') {
    latency = new LatencyRecorder();
    arrivals = [];
    [requests, repeats] = [0, 0];
  } else report({ kind: 'received', requests, repeats, latency: latency.summary(), arrivals });
});
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit());

function report(message: ReceiverReport): void {
  process.send?.(message);
}
