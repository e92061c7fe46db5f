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
    description: 'URL called at each interval while the daemon is ready. It is a secret and never shown.',
    pattern: URL_PATTERN,
    patternErrorMessage: 'must be a URL: https://hc-ping.com/…',
  }),
  failure_url: Type.Optional(
    secret({
      description: 'URL called instead while the daemon is not ready. If absent, nothing is called.',
      pattern: URL_PATTERN,
      patternErrorMessage: 'must be a URL: https://hc-ping.com/…/fail',
    }),
  ),
  interval: duration({ default: '1m', description: 'Interval between calls.' }),
  timeout: duration({ default: '10s', description: 'Time limit for a call.' }),
});

type Config = Static<typeof configSchema>;

/** Reports to an external service that the daemon is ready. If the calls stop, that service raises the alarm. */
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
      if (!answer.ok) throw new Error(`the response status was ${answer.status}`);
      this.#count('ok');
      this.#host?.reportStatus({ level: 'ok' });
    } catch (error) {
      if (this.#end.signal.aborted) return;
      this.#count('failed');
      // The URL is a secret, and errors of fetch do not contain it.
      const reason = late.signal.aborted ? `no response within ${config.timeout}` : String(error);
      logger.warn({ reason }, 'Cannot send the heartbeat');
      this.#host?.reportStatus({ level: 'degraded', message: `cannot send the heartbeat: ${reason}` });
    } finally {
      cancel();
    }
  }
}

const heartbeat: ExtensionFactory<typeof configSchema> = {
  kind: 'extension',
  type: 'heartbeat',
  description:
    'Calls a URL at intervals while the daemon is ready, so that missing calls can raise an alarm.',
  stability: 'beta',
  configSchema,
  create: (settings) => new Heartbeat(settings),
};

const plugin: Plugin = { name: 'heartbeat', apiVersion: 1, factories: [heartbeat] };
export default plugin;
