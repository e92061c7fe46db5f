import { Random } from './random.js';
import { MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE } from '../../signal/time-units.js';

/** One incident in each block of so many days: any 27 days in a row hold one, on a working day. */
const INCIDENT_BLOCK_DAYS = 14;
const RELEASE_DAYS = 21;
const DRIFT_DAYS = 60;
const USUAL_MODEL_FAULTS = 0.012;
const USUAL_SERVICE_FAULTS = 0.006;
const PROVIDERS = ['anthropic', 'openai', 'google'];

/** A bad day: one provider fails and slows down for some hours. */
interface Incident {
  readonly startMs: number;
  readonly endMs: number;
  readonly provider: string;
  /** Probability that one call fails. */
  readonly faultRate: number;
  readonly slowdown: number;
}

/** The agent of which a release is made that costs more than it should, for some days. */
export const COSTLY_AGENT = 'research-assistant';
const COSTLY_DAYS = 3;
const COSTLY_GROWTH = 2.6;

/** The agent that answers by a prompt with versions, of which the newest is worse, and is taken back after some days. */
export const PROMPTED_AGENT = 'support-triage';
/** Each version is in use for so many days, then it begins anew: what any 28 days in a row show is all of them. */
const DAYS_OF_VERSIONS = [12, 12, 4];
const WORSE_VERSION = DAYS_OF_VERSIONS.length;
const WORSE_QUALITY = 0.86;

/** The version of {@link PROMPTED_AGENT}'s prompt that is in use at a moment: 1, 2 or 3. */
export function promptVersionAt(timeMs: number): number {
  let day = Math.floor(timeMs / MS_PER_DAY) % DAYS_OF_VERSIONS.reduce((sum, days) => sum + days);
  return 1 + DAYS_OF_VERSIONS.findIndex((days) => (day -= days) < 0);
}

/** The release of {@link COSTLY_AGENT} of the block of days that holds a moment: its first millisecond. */
function costlyReleaseAround(seed: string, timeMs: number): number {
  const block = Math.floor(timeMs / MS_PER_DAY / INCIDENT_BLOCK_DAYS);
  const day = new Random(`${seed}/costly release/${String(block)}`).integer(
    0,
    INCIDENT_BLOCK_DAYS - COSTLY_DAYS,
  );
  return (block * INCIDENT_BLOCK_DAYS + day) * MS_PER_DAY + 9 * MS_PER_HOUR;
}

/** How the world of an agent is at one moment. */
export interface Conditions {
  /** Label of the agent's release: `2025.318`. */
  readonly release: string;
  /** Multiplies the latency of a call to a target: a provider, a host or a database. */
  slowdown(target: string): number;
  /** Probability that one call to the target fails. */
  faultRate(target: string): number;
  /** Multiplies the context of prompts: it creeps up from release to release. */
  readonly contextGrowth: number;
  /** Multiplies the chance of a good result; drifts slowly around 1. */
  readonly quality: number;
}

/** The incident of the block of days that holds a moment. @param timeMs milliseconds since the epoch */
function incidentAround(seed: string, timeMs: number): Incident {
  const block = Math.floor(timeMs / MS_PER_DAY / INCIDENT_BLOCK_DAYS);
  const random = new Random(`${seed}/incident/${block}`);
  const days = Array.from({ length: INCIDENT_BLOCK_DAYS }, (_, index) => block * INCIDENT_BLOCK_DAYS + index);
  const day = random.pick(days.filter((candidate) => isWorkday(candidate)));
  const startMs = day * MS_PER_DAY + random.integer(8 * 60, 13 * 60) * MS_PER_MINUTE;
  return {
    startMs,
    endMs: startMs + random.integer(4, 7) * MS_PER_HOUR,
    provider: random.pick(PROVIDERS),
    faultRate: 0.78 + 0.17 * random.unit(),
    slowdown: 2 + 2 * random.unit(),
  };
}

/** The world as an agent finds it. The same seed, time and agent give the same world. */
export function conditionsAt(seed: string, timeMs: number, agent: string): Conditions {
  const incident = incidentAround(seed, timeMs);
  const isIncident = timeMs >= incident.startMs && timeMs < incident.endMs;
  const random = new Random(`${seed}/conditions/${agent}`);
  const day = timeMs / MS_PER_DAY;
  const releasePhase = random.integer(0, RELEASE_DAYS - 1);
  const daysInRelease = (day + releasePhase) % RELEASE_DAYS;
  const wave = Math.sin((2 * Math.PI * day) / DRIFT_DAYS + 2 * Math.PI * random.unit());
  const drift = 1 + 0.18 * wave;
  const costlyMs = costlyReleaseAround(seed, timeMs);
  const isCostly =
    agent === COSTLY_AGENT && timeMs >= costlyMs && timeMs < costlyMs + COSTLY_DAYS * MS_PER_DAY;
  const isWorse = agent === PROMPTED_AGENT && promptVersionAt(timeMs) === WORSE_VERSION;
  return {
    release: releaseLabel(isCostly ? costlyMs : timeMs - Math.floor(daysInRelease) * MS_PER_DAY),
    contextGrowth: (1 + 0.02 * daysInRelease) * (isCostly ? COSTLY_GROWTH : 1),
    quality: (1 - 0.07 * wave) * (isWorse ? WORSE_QUALITY : 1),
    slowdown: (target) => (isIncident && target === incident.provider ? incident.slowdown * drift : drift),
    faultRate: (target) => {
      if (!PROVIDERS.includes(target)) return USUAL_SERVICE_FAULTS;
      return isIncident && target === incident.provider ? incident.faultRate : USUAL_MODEL_FAULTS;
    },
  };
}

/** @param day whole days since the epoch, which was a Thursday */
function isWorkday(day: number): boolean {
  const weekday = (day + 4) % 7;
  return weekday >= 1 && weekday <= 5;
}

/** Year and day of the year, the way many teams name their releases. */
function releaseLabel(timeMs: number): string {
  const year = new Date(timeMs).getUTCFullYear();
  const dayOfYear = Math.floor((timeMs - Date.UTC(year, 0, 1)) / MS_PER_DAY) + 1;
  return `${year}.${dayOfYear}`;
}
