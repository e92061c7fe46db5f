import {
  Type,
  type Static,
  duration,
  durationMs,
  secret,
  section,
  type Component,
  type ExtensionFactory,
  type Host,
  type Plugin,
  type Settings,
} from 'jackdaw';

const URL_PATTERN = '^https?://[^\\s/]+.*$';

const configSchema = section({
  url: secret({
    description:
      'Called again and again while the daemon is ready. Whoever knows it can call it: it is never shown.',
    pattern: URL_PATTERN,
    patternErrorMessage: 'must be a URL: https://hc-ping.com/…',
  }),
  failure_url: Type.Optional(
    secret({
      description: 'Called in its place while the daemon is not ready. Absent: then nothing is called.',
      pattern: URL_PATTERN,
      patternErrorMessage: 'must be a URL: https://hc-ping.com/…/fail',
    }),
  ),
  interval: duration({ default: '1m', description: 'How often.' }),
  timeout: duration({ default: '10s', description: 'How long one call may take.' }),
});

type Config = Static<typeof configSchema>;

/** Tells a service outside that the daemon is well; when nothing comes any more, that service raises the alarm. */
class Heartbeat implements Component {
  readonly #settings: Settings<Config>;
  readonly #end = new AbortController();
  readonly #count: (result: 'ok' | 'failed') => void;
  #host: Host | undefined;
  #cancel: () => void = () => undefined;
  #calling: Promise<void> | undefined;

  constructor(settings: Settings<Config>) {
    this.#settings = settings;
    const counter = settings.meter.counter('heartbeat_calls_total', {
      description: 'Calls of the heartbeat, by result.',
      labelNames: ['extension', 'result'],
    });
    this.#count = (result) => {
      counter.add(1, { extension: settings.id, result });
    };
  }

  async start(host: Host): Promise<void> {
    this.#host = host;
    this.#wait();
    return Promise.resolve();
  }

  async shutdown(): Promise<void> {
    this.#end.abort();
    this.#cancel();
    await this.#calling;
  }

  #wait(): void {
    if (this.#end.signal.aborted) return;
    const { clock, config } = this.#settings;
    this.#cancel = clock.after(durationMs(config.interval), () => {
      this.#calling = this.#beat().finally(() => {
        this.#calling = undefined;
        this.#wait();
      });
    });
  }

  async #beat(): Promise<void> {
    const { config, clock, logger } = this.#settings;
    const isReady = this.#host?.health().isReady === true;
    const url = isReady ? config.url : config.failure_url;
    if (url === undefined) return;
    const late = new AbortController();
    const cancel = clock.after(durationMs(config.timeout), () => {
      late.abort();
    });
    try {
      const answer = await fetch(url, {
        method: 'POST',
        redirect: 'error',
        signal: AbortSignal.any([late.signal, this.#end.signal]),
      });
      await answer.body?.cancel();
      if (!answer.ok) throw new Error(`the answer was ${answer.status}`);
      this.#count('ok');
      this.#host?.reportStatus({ level: 'ok' });
    } catch (error) {
      if (this.#end.signal.aborted) return;
      this.#count('failed');
      // The URL is a secret, and errors of fetch do not name it.
      const reason = late.signal.aborted ? `no answer within ${config.timeout}` : String(error);
      logger.warn({ reason }, 'The heartbeat could not be sent');
      this.#host?.reportStatus({ level: 'degraded', message: `the heartbeat could not be sent: ${reason}` });
    } finally {
      cancel();
    }
  }
}

const heartbeat: ExtensionFactory<typeof configSchema> = {
  kind: 'extension',
  type: 'heartbeat',
  description:
    'Calls a URL again and again while the daemon is ready, so that its silence raises an alarm elsewhere.',
  stability: 'beta',
  configSchema,
  create: (settings) => new Heartbeat(settings),
};

const plugin: Plugin = { name: 'heartbeat', apiVersion: 1, factories: [heartbeat] };
export default plugin;
