import { randomInt } from 'node:crypto';
import type { DaemonProcess } from '../support/process.js';
import type { CountingReceiver } from './counting-receiver.js';
import type { KillPointName } from './kill-points.js';

/** How a life ends: at a point within the process, when the receiver has a request and has not answered, or at any time. */
export type Death = KillPointName | 'a request is out' | 'any time';

/**
 * One life of the daemon, which ends in the given way.
 *
 * @param live starts it
 * @param act what is done with it meanwhile; it ends when the connection breaks
 * @param countdown how often it passes its point at most before it dies there
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
    // It came to its point with what earlier lives had left, before it was ready.
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
