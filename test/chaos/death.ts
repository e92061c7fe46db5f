import { randomInt } from 'node:crypto';
import type { DaemonProcess } from '../support/process.js';
import type { CountingReceiver } from './counting-receiver.js';
import type { KillPointName } from './kill-points.js';

/** How a run ends: at a kill point, when the receiver has an unanswered request, or at any time. */
export type Death = KillPointName | 'a request is out' | 'any time';

/**
 * Runs the daemon until it dies in the given way.
 *
 * @param live starts it
 * @param act uses it meanwhile; ends when the connection breaks
 * @param countdown maximum number of times it passes its kill point before it dies there
 */
export async function endLife(
  death: Death,
  receiver: CountingReceiver,
  live: (env: NodeJS.ProcessEnv) => Promise<DaemonProcess>,
  act: (daemon: DaemonProcess) => Promise<void>,
  countdown = 5,
): Promise<void> {
  const isPoint = death !== 'a request is out' && death !== 'any time';
  const env = isPoint ? { CHAOS_POINT: death, CHAOS_COUNTDOWN: String(randomInt(1, countdown + 1)) } : {};
  let daemon: DaemonProcess;
  try {
    daemon = await live(env);
  } catch (error) {
    // It reached its kill point with the work of earlier runs before it was ready.
    if (isPoint && String(error).includes('SIGKILL')) return;
    throw error;
  }
  if (death === 'a request is out') {
    let left = randomInt(1, 10);
    receiver.onArrival = () => {
      if (--left > 0) return true;
      daemon.child.kill('SIGKILL');
      return false;
    };
  }
  const time = death === 'any time' ? randomInt(50, 700) : 1500;
  const timer = setTimeout(() => daemon.child.kill('SIGKILL'), time);
  await act(daemon);
  await daemon.exited;
  clearTimeout(timer);
  receiver.onArrival = () => true;
}
