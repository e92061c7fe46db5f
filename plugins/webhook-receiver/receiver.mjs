import { Buffer } from 'node:buffer';
import console from 'node:console';
import { createServer } from 'node:http';
import { env } from 'node:process';
import { verify } from './verify.mjs';

/** Jackdaw's bodies are much smaller. */
const MAX_BYTES = 1024 * 1024;

/** Ids of received events. A real receiver stores the id and the effects of the event in one database transaction. */
const known = new Set();

const server = createServer(async (request, response) => {
  const answer = (status) => response.writeHead(status).end();
  try {
    const body = await readBody(request);
    if (body === null) return response.writeHead(413, { connection: 'close' }).end();
    if (!verify(body, request.headers['x-service-signature'], env.WEBHOOK_SECRET)) return answer(401);
    const event = JSON.parse(body);
    const isNew = !known.has(event.id);
    known.add(event.id);
    // Respond before doing the work: a delivery that takes longer than 15 seconds fails and is repeated.
    answer(204);
    if (isNew) console.log(event.type, event.id, event.data);
  } catch {
    // The request ended early, or its body is not JSON.
    answer(400);
  }
});

/** The unchanged bytes, or null if there are too many. The signature would not match JSON that was parsed and printed again. */
async function readBody(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

server.listen(Number(env.PORT ?? 8080), '127.0.0.1', () => {
  console.log('listening on', server.address().port);
});
