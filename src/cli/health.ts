import { Command } from 'commander';
import { withConfigOption, type ConfigOptions } from './config-files.js';
import { healthAddress } from './configured-daemon.js';
import { durationMs } from '../config/duration.js';
import { EXIT } from './exit-codes.js';
import type { CliIo } from './io.js';
import { UsageError } from './usage-error.js';

interface HealthOptions extends ConfigOptions {
  readonly url?: string;
  readonly timeout: string;
}

interface Readiness {
  readonly status: string;
  readonly components: readonly { kind: string; id: string; state: string; message?: string }[];
}

/**
 * `jackdaw health`, for exec probes.
 *
 * @param setExitCode receives 1 if the daemon is not ready
 */
export function healthCommand(io: CliIo, setExitCode: (code: number) => void): Command {
  const command = new Command('health').description(
    'Print the health of the daemon. Exits with 0 if it is ready, otherwise with 1.',
  );
  return withConfigOption(command, 'configuration file of the daemon, for its health endpoint')
    .option('--url <url>', 'address of the health endpoint (default: that of extensions.health.endpoint)')
    .option('--timeout <duration>', 'how long to wait for the answer', '2s')
    .action(async ({ url, timeout, ...config }: HealthOptions) => {
      if (!/^\d+(ms|s)$/.test(timeout))
        throw new UsageError('--timeout must be a duration such as 500ms or 2s');
      const base = url ?? healthAddress(config, io);
      if (base === undefined || !URL.canParse(base))
        throw new UsageError(
          'give --url http://HOST:PORT: extensions.health has no fixed port in the configuration',
        );
      try {
        const signal = AbortSignal.timeout(durationMs(timeout));
        const answer = await fetch(new URL('/readyz', base), { signal, redirect: 'error' });
        const body = (await answer.json()) as Readiness;
        io.out(stateText(body));
        setExitCode(answer.ok ? EXIT.ok : EXIT.failure);
      } catch (error) {
        io.err(`jackdaw: ${base} reports no health: ${reasonOf(error)}`);
        setExitCode(EXIT.failure);
      }
    });
}

/** The state, and a line for each component that is not ok. */
function stateText({ status, components }: Readiness): string {
  const lines = components
    .filter(({ state }) => state !== 'ok')
    .map(
      ({ kind, id, state, message }) =>
        `${kind} ${id} is ${state}${message === undefined ? '' : `: ${message}`}`,
    );
  return [status, ...lines].join('\n');
}

/** `fetch` hides the reason of a failed connection in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
}
