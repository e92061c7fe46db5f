import { HttpProblem, type HttpRequest, type HttpResponse, type Listener } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { fillPath, queryOf, type OperationAnswer, type OperationCall } from '../../http/operation-call.js';

/** Longest answer of an operation that is read. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** Calls the API's operations in this process on behalf of one request. */
export class ApiCalls {
  readonly #listener: Listener;
  readonly #request: HttpRequest;

  /**
   * @param listener of the API
   * @param request of the client: calls have its key, address and end
   */
  constructor(listener: Listener, request: HttpRequest) {
    this.#listener = listener;
    this.#request = request;
  }

  /**
   * Calls an operation like a request over HTTP: the same key, validation and errors.
   *
   * @throws HttpProblem as the operation, 404 if this daemon does not serve it, 413 for an answer of more than 8 MiB; ConsumeError
   */
  async call<O extends Operation>(operation: O, call: OperationCall<O> = {}): Promise<OperationAnswer<O>> {
    const { text, isCut } = await this.#answer(operation.id, call, MAX_ANSWER_BYTES);
    if (isCut) throw tooLarge();
    // The route serializes what its schema declares.
    return (text === '' ? undefined : JSON.parse(text)) as OperationAnswer<O>;
  }

  /**
   * Like {@link call}, for an operation of another component.
   *
   * @param id of the operation
   */
  async callById(id: string, call: { readonly body: object }): Promise<unknown> {
    const { text } = await this.#answer(id, call, MAX_ANSWER_BYTES);
    return JSON.parse(text) as unknown;
  }

  /**
   * Like {@link call}, for an answer that ends with a list of any length: later items are left out.
   *
   * @param firstField of each item; it is in no object inside an item
   * @returns the answer, and whether items were left out
   */
  async callForStart<O extends Operation>(
    operation: O,
    call: OperationCall<O>,
    { firstField, maxBytes }: { readonly firstField: string; readonly maxBytes: number },
  ): Promise<{ readonly answer: OperationAnswer<O>; readonly isCut: boolean }> {
    const { text, isCut } = await this.#answer(operation.id, call, maxBytes);
    // Quotes inside a string are escaped, so this is the start of an item.
    const end = isCut ? text.lastIndexOf(`,{"${firstField}":`) : text.length;
    if (end < 0) throw tooLarge();
    return { answer: JSON.parse(isCut ? `${text.slice(0, end)}]}` : text) as OperationAnswer<O>, isCut };
  }

  async #answer(
    id: string,
    call: {
      readonly params?: object | undefined;
      readonly query?: object | undefined;
      readonly body?: object | undefined;
    },
    maxBytes: number,
  ): Promise<{ readonly text: string; readonly isCut: boolean }> {
    const route = this.#listener.routes().find(({ operation }) => operation?.id === id);
    if (route === undefined)
      throw new HttpProblem(
        404,
        'not_served',
        `This daemon does not serve ${id}: its store does not keep this data, or the component is not configured.`,
      );
    const params = Object.fromEntries(
      Object.entries(call.params ?? {}).map(([name, value]) => [name, String(value)]),
    );
    const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
    const { method } = route;
    const path = fillPath(route.path, params);
    const outer = this.#request;
    const response = await route.handle({
      id: outer.id,
      method,
      path,
      params,
      query: queryOf(call.query ?? {}),
      remoteAddress: outer.remoteAddress,
      header: (name) => headerOf(name, outer, body),
      body: async () => body ?? new Uint8Array(),
      abort: outer.abort,
      draining: outer.draining,
    });
    return await readText(response, maxBytes);
  }
}

/** The headers of the client's request, except those about its body and its answer. */
function headerOf(name: string, outer: HttpRequest, body: Uint8Array | undefined): string | undefined {
  switch (name) {
    case 'accept':
    case 'content-encoding':
    case 'transfer-encoding':
      return undefined;
    case 'content-type':
      return body && 'application/json';
    case 'content-length':
      return body && String(body.length);
    default:
      return outer.header(name);
  }
}

function tooLarge(): HttpProblem {
  return new HttpProblem(413, 'answer_too_large', 'There is too much data to read: narrow the request.');
}

async function readText(
  { body = '' }: HttpResponse,
  maxBytes: number,
): Promise<{ readonly text: string; readonly isCut: boolean }> {
  if (typeof body === 'string') return { text: body, isCut: false };
  if (body instanceof Uint8Array) return { text: Buffer.from(body).toString('utf8'), isCut: false };
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  let isCut = false;
  for await (const piece of body) {
    pieces.push(piece);
    bytes += piece.length;
    // Ends the read of the store, too.
    if ((isCut = bytes > maxBytes)) break;
  }
  return { text: Buffer.concat(pieces).toString('utf8'), isCut };
}
