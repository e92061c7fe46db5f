import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import S3rver from 's3rver';
import type { Test } from 'tap';
import { testFolder } from './test-folder.js';

/** Access key of the server; both texts are the same. */
const S3_KEY = 'S3RVER';

/** The fate of a request: the status of an error, a cut connection, or null to answer it. */
type Fault = number | 'cut' | null;

/** An S3 server with signatures and an empty bucket `backups`, which can fail on request. */
export class S3Server {
  readonly url: string;
  /** `METHOD /bucket/key` of each request that was answered. */
  readonly requests: string[] = [];
  /** Called for each request. */
  fault: (request: string) => Fault = () => null;

  private constructor(url: string) {
    this.url = url;
  }

  static async start(t: Pick<Test, 'testdir' | 'teardown'>): Promise<S3Server> {
    const app = new S3rver({
      directory: testFolder(t),
      silent: true,
      configureBuckets: [{ name: 'backups', configs: [] }],
    });
    await app.configureBuckets();
    const answer = app.callback();
    const listener = createServer();
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const server = new S3Server(`http://127.0.0.1:${String((listener.address() as AddressInfo).port)}`);
    listener.on('request', (request: IncomingMessage, response) => {
      const name = `${request.method ?? ''} ${request.url?.split('?')[0] ?? ''}`;
      const fault = server.fault(name);
      if (fault === 'cut') request.destroy();
      else if (fault !== null) response.writeHead(fault).end();
      else {
        server.requests.push(name);
        answer(request, response);
      }
    });
    t.teardown(() => {
      listener.closeAllConnections();
      listener.close();
    });
    return server;
  }

  /** Keys of a configuration section about S3. */
  get section() {
    return { endpoint: this.url, access_key_id: S3_KEY, secret_access_key: S3_KEY };
  }

  /** Sets the standard variables of this process for the duration of a test. */
  setVariables(t: Pick<Test, 'teardown'>): void {
    const variables = {
      AWS_ENDPOINT_URL_S3: this.url,
      AWS_ACCESS_KEY_ID: S3_KEY,
      AWS_SECRET_ACCESS_KEY: S3_KEY,
    };
    Object.assign(process.env, variables);
    t.teardown(() => {
      for (const name of Object.keys(variables)) Reflect.deleteProperty(process.env, name);
    });
  }

  /** Number of requests that began with a text. */
  count(start: string): number {
    return this.requests.filter((request) => request.startsWith(start)).length;
  }
}
