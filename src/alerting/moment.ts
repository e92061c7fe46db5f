import type { Micros } from '../signal/time.js';
import type { Alert } from '../storage/contracts/alerts.js';
import type { AlertingSettings } from '../storage/contracts/coordination.js';
import { dayOf, type Day } from './days.js';
import { MICROS_PER_HOUR, MICROS_PER_MINUTE } from '../signal/time-units.js';

/** How old the newest point of a metric's series may be. */
const POINTS_WINDOW = 5 * MICROS_PER_MINUTE;
/** How long after its end a day is evaluated again, because runs are reported late. */
const LATE_DATA_TIME = MICROS_PER_HOUR;

/** The moment of an evaluation, shared by all its alerts. */
export interface Moment {
  readonly now: Micros;
  readonly windowStart: Micros;
  readonly pointsStart: Micros;
  readonly minSamples: number;
  /** Today; also yesterday, during the first hour of today and if the daemon was absent at its end. */
  readonly days: readonly [today: Day, yesterday?: Day];
  /** False shortly after an absence of the daemon: quiet agents may still be sending what they buffered. */
  readonly knowsActivity: boolean;
}

/**
 * The context of an evaluation at a moment.
 *
 * @param knowsActivity whether silence is meaningful
 * @param isDayMissed whether yesterday was not evaluated when it ended
 */
export function momentAt(
  now: Micros,
  settings: AlertingSettings,
  { knowsActivity, isDayMissed }: { readonly knowsActivity: boolean; readonly isDayMissed: boolean },
): Moment {
  const today = dayOf(now, settings.timezone);
  const isOpen = isDayMissed || now - today.from < LATE_DATA_TIME;
  return {
    now,
    windowStart: now - settings.windowMs * 1000,
    pointsStart: now - POINTS_WINDOW,
    minSamples: settings.minSamples,
    days: isOpen ? [today, dayOf(today.from - 1, settings.timezone)] : [today],
    knowsActivity,
  };
}

/** The moment for an alert, which may have its own window and minimum. */
export function momentOf(
  { window_minutes, min_samples }: Pick<Alert, 'window_minutes' | 'min_samples'>,
  moment: Moment,
): Moment {
  return {
    ...moment,
    ...(window_minutes !== null && { windowStart: moment.now - window_minutes * MICROS_PER_MINUTE }),
    minSamples: min_samples ?? moment.minSamples,
  };
}
