import { isDeepStrictEqual } from 'node:util';
import { takesOwnTelemetry, type OwnTelemetryIntake } from '../component/intake.js';
import type { Clock, Tracer } from '../component/telemetry.js';
import { readPem } from '../config/client-tls.js';
import type { Config } from '../config/config.js';
import type { Problem } from '../config/config-error.js';
import { durationMs } from '../config/duration.js';
import { OWN_TELEMETRY, SELF, type OwnTelemetryConfig } from '../config/own-telemetry.js';
import { readVersion } from '../config/package-version.js';
import { TELEMETRY_SIGNALS, type TelemetrySignal } from '../signal/batch.js';
import type { PrometheusMeter } from '../telemetry/meter.js';
import type { Self, Server } from '../telemetry/own/exporters.js';
import type { ForwardingLogger, OwnTelemetry } from '../telemetry/own/own-telemetry.js';
import type { Built } from './build.js';
import { Deadline } from './deadline.js';
import type { Plan } from './plan.js';

/** Time for the last batches at a stop. */
const FLUSH_MS = 5000;

interface Tools {
  readonly meter: PrometheusMeter;
  readonly logger: ForwardingLogger;
  readonly clock: Clock;
}

/** What is needed to send to this daemon. */
interface Running {
  readonly built: Pick<Built, 'receivers'>;
  /** The id of the user with this e-mail address. */
  readonly userOf: (email: string) => Promise<string>;
}

/** Telemetry of a daemon about itself, as `service.telemetry.otlp` configures it. */
export class DaemonTelemetry {
  readonly #own: OwnTelemetry;
  readonly #self: SelfIntake;
  /** Undefined with endpoint self. */
  #server: Server | undefined;
  readonly #clock: Clock;

  private constructor(
    own: OwnTelemetry,
    self: SelfIntake,
    { server, clock }: { readonly server: Server | undefined; readonly clock: Clock },
  ) {
    this.#own = own;
    this.#self = self;
    this.#server = server;
    this.#clock = clock;
  }

  /**
   * Loads the SDK, if it is needed.
   *
   * @returns undefined if nothing is configured
   * @throws Error that names a TLS file that cannot be read
   */
  static async open(config: OwnTelemetryConfig, tools: Tools): Promise<DaemonTelemetry | undefined> {
    const { endpoint, traces, metrics, logs, resource, timeout } = config;
    if (endpoint === null || endpoint === '') return undefined;
    const self = new SelfIntake(config.user);
    const server = endpoint === SELF ? undefined : await serverOf(endpoint, config);
    const { OwnTelemetry: Own } = await import('../telemetry/own/own-telemetry.js');
    const own = await Own.open({
      ...tools,
      version: readVersion(),
      resource,
      destination: server ?? self,
      sampleRatio: traces.enabled ? traces.sample_ratio : null,
      metricsIntervalMs: metrics.enabled ? durationMs(metrics.interval) : null,
      logLevel: logs.enabled ? logs.level : null,
      timeoutMs: durationMs(timeout),
    });
    return new DaemonTelemetry(own, self, { server, clock: tools.clock });
  }

  get tracer(): Tracer | undefined {
    return this.#own.tracer;
  }

  get isSelf(): boolean {
    return this.#server === undefined;
  }

  /**
   * Applies another endpoint, headers or TLS settings, and reads the TLS files again.
   *
   * @returns whether anything has changed
   * @throws Error that names a TLS file that cannot be read; the old settings stay
   */
  async reload(config: OwnTelemetryConfig): Promise<boolean> {
    if (this.#server === undefined || config.endpoint === null) return false;
    const server = await serverOf(config.endpoint, config);
    if (isDeepStrictEqual(server, this.#server)) return false;
    await this.#own.redirect(server);
    this.#server = server;
    return true;
  }

  /** Call it when everything runs. */
  connect(running: Running): void {
    this.#self.connect(running);
  }

  /**
   * Sends the rest, within some seconds. Never rejects. With endpoint self, call it while receivers run.
   *
   * @param deadline aborted when there is less time
   */
  async close(deadline: AbortSignal): Promise<void> {
    const flush = new Deadline(FLUSH_MS, this.#clock);
    this.#self.close();
    await this.#own.close(AbortSignal.any([deadline, flush.abort]));
    flush.cancel();
  }
}

/** The intake of this daemon, under the user of its own telemetry. */
class SelfIntake implements Self {
  readonly kind = 'self';
  readonly #email: string;
  readonly #running: Promise<Running>;
  readonly connect: (running: Running) => void;
  /** Has no effect once connected. */
  readonly close: () => void;
  #userId: string | undefined;

  constructor(email: string) {
    this.#email = email;
    let connect: SelfIntake['connect'] = () => undefined;
    let close: SelfIntake['close'] = () => undefined;
    this.#running = new Promise((resolve, reject) => {
      connect = resolve;
      close = () => {
        reject(new Error('the daemon has not started'));
      };
    });
    this.#running.catch(() => undefined);
    this.connect = connect;
    this.close = close;
  }

  readonly userId = (): string | undefined => this.#userId;

  /** Waits until the daemon runs. */
  readonly take = async (signal: TelemetrySignal, request: Uint8Array): Promise<number> => {
    const { built, userOf } = await this.#running;
    this.#userId ??= await userOf(this.#email);
    const intake = built.receivers
      .map(({ component }) => component)
      .find(
        (component): component is typeof component & OwnTelemetryIntake =>
          takesOwnTelemetry(component) && component.takesOwn(signal),
      );
    if (intake === undefined) throw new Error(`no pipeline takes ${signal} from a receiver otlp`);
    return intake.takeOwn(signal, request, this.#userId);
  };
}

async function serverOf(endpoint: string, config: OwnTelemetryConfig): Promise<Server> {
  const { protocol, headers, compression, timeout, tls } = config;
  const [ca, cert, key] = await Promise.all([
    readPem(`${OWN_TELEMETRY}.tls.ca_file`, tls?.ca_file),
    readPem(`${OWN_TELEMETRY}.tls.cert_file`, tls?.cert_file),
    readPem(`${OWN_TELEMETRY}.tls.key_file`, tls?.key_file),
  ]);
  const serverName = tls?.server_name_override;
  const isVerified = tls?.insecure_skip_verify !== true;
  return {
    kind: 'server',
    ...{ protocol, endpoint, headers, compression },
    timeoutMs: durationMs(timeout),
    tls: { ca, cert, key, serverName, isVerified },
  };
}

/** Reports signals that no pipeline would take, with endpoint self. */
export function checkOwnIntake(config: Config, { pipelines }: Plan): readonly Problem[] {
  const { otlp } = config.service.telemetry;
  if (otlp.endpoint !== SELF) return [];
  return TELEMETRY_SIGNALS.filter(
    (wanted) =>
      otlp[wanted].enabled &&
      !pipelines.some(
        ({ signal, receivers }) =>
          signal === wanted && receivers.some(({ factory }) => factory.takesOwnTelemetry === true),
      ),
  ).map((signal) => {
    const path = [...OWN_TELEMETRY.split('.'), 'endpoint'];
    return {
      severity: 'error',
      position: config.locate(path),
      path,
      message: `self needs a pipeline for ${signal} with the receiver otlp; add one, or set ${OWN_TELEMETRY}.${signal}.enabled to false`,
    };
  });
}
