import type { AlertRule } from '../../src/storage/contracts/alerts.js';

const MINUTE = 60_000_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The state of the model's only agent. Runs and points carry ascending numbers. */
export interface World {
  readonly finished: number;
  readonly failed: number;
  readonly p95: number;
  readonly runsSeq: number;
  readonly activeAt: number | null;
  /** Micro-dollars by day since 1970, UTC. */
  readonly spent: ReadonlyMap<number, number>;
  /** Value of the metric `cpu`; null if stale. */
  readonly cpu: { readonly value: number; readonly seq: number } | null;
}

interface Known {
  readonly runsSeq: number;
  readonly cpuSeq: number;
  readonly day: number;
  readonly cost: number;
}

interface Kept {
  firedAt: number | null;
  firings: number;
  notMetSince: number | null;
  known: Known | null;
}

/** One condition of a rule: whether it is met, and whether its evidence is new since the rule last fired. */
interface Look {
  readonly met: boolean;
  readonly isNew: boolean;
}

/** Models rules from the specification alone, without code of `src/alerting`, as plain facts per rule. Days are in UTC. */
export class AlertModel {
  /** `fired` with the number of firings of the incident, and `resolved`, one by one. */
  readonly happened: string[] = [];
  readonly #kept = new Map<string, Kept>();
  #lastBeat: number | null = null;
  #storedBeat: number | null = null;
  #beforeQuiet: number | null = null;
  #quietUntil = -Infinity;
  #isDayMissed = false;

  /** Starts a daemon. */
  begin(now: number): void {
    this.#quietUntil = -Infinity;
    this.#isDayMissed = false;
    this.#lastBeat = this.#storedBeat;
    this.beat(now);
    for (const kept of this.#kept.values()) kept.notMetSince = null;
  }

  beat(now: number): void {
    if (this.#isLate(now)) {
      this.#quietUntil = now + 5 * MINUTE;
      this.#beforeQuiet = this.#lastBeat;
    }
    if (this.#isNewDay(now)) this.#isDayMissed = true;
    this.#lastBeat = now;
    // A daemon that starts within the grace period was down too.
    this.#storedBeat = now < this.#quietUntil ? this.#beforeQuiet : now;
  }

  /** Stops a daemon in order. */
  end(now: number): void {
    if (!this.#isLate(now) && !this.#isNewDay(now) && now >= this.#quietUntil) this.#storedBeat = now;
  }

  /** Called after all due rules were evaluated. */
  judgedAll(): void {
    this.#isDayMissed = false;
  }

  pause(id: string): void {
    const kept = this.#of(id);
    kept.firings = 0;
    kept.notMetSince = null;
  }

  judge({ alert }: AlertRule, world: World, now: number): void {
    if (!alert.is_active) return;
    const kept = this.#of(alert.id);
    const looks = this.#looks(alert, kept, world, now);
    const isMet =
      alert.composite_config?.operator === 'or'
        ? looks.some(({ met }) => met)
        : looks.every(({ met }) => met);
    if (!isMet) {
      this.#stopMeeting(alert.id, kept, now);
      return;
    }
    kept.notMetSince = null;
    const isRested = kept.firedAt === null || kept.firedAt + alert.cooldown_minutes * MINUTE <= now;
    const isNew = kept.firedAt === null || looks.some((look) => look.met && look.isNew);
    if (!isRested || !isNew) return;
    const day = this.#costDay(costThreshold(alert), kept, world, now);
    kept.firedAt = now;
    kept.firings += 1;
    kept.known = {
      runsSeq: world.runsSeq,
      cpuSeq: world.cpu?.seq ?? 0,
      day,
      cost: world.spent.get(day) ?? 0,
    };
    this.happened.push(`${alert.id} fired ${kept.firings}`);
  }

  #stopMeeting(id: string, kept: Kept, now: number): void {
    if (kept.firings === 0) return;
    kept.notMetSince ??= now;
    if (now === kept.notMetSince || now < kept.notMetSince + 5 * MINUTE) return;
    kept.firings = 0;
    kept.notMetSince = null;
    this.happened.push(`${id} resolved`);
  }

  #looks(alert: AlertRule['alert'], kept: Kept, world: World, now: number): Look[] {
    const conditions = alert.composite_config?.conditions ?? [alert];
    const { known } = kept;
    const hasNewRuns = known === null || world.runsSeq > known.runsSeq;
    return conditions.map((condition): Look => {
      switch (condition.type) {
        case 'failure_rate':
          return { met: world.failed > condition.threshold * world.finished, isNew: hasNewRuns };
        case 'latency_threshold':
          return { met: world.finished > 0 && world.p95 > condition.threshold, isNew: hasNewRuns };
        case 'inactivity': {
          const activeAt = now >= this.#quietUntil ? world.activeAt : null;
          return { met: activeAt !== null && now - activeAt > condition.threshold * HOUR, isNew: true };
        }
        case 'cost_threshold':
          return this.#costLook(condition.threshold, kept, world, now);
        case 'metric_threshold': {
          const met = world.cpu !== null && world.cpu.value > condition.value;
          return { met, isNew: known === null || (world.cpu?.seq ?? 0) > known.cpuSeq };
        }
        case 'score_threshold':
        case 'composite':
          throw new Error('no alert of the model is made of these');
      }
    });
  }

  #costLook(threshold: number, kept: Kept, world: World, now: number): Look {
    const { known } = kept;
    const day = this.#costDay(threshold, kept, world, now);
    const cost = world.spent.get(day) ?? 0;
    const isNew = known === null || day > known.day || (day === known.day && cost > known.cost);
    return { met: cost > threshold, isNew };
  }

  #isLate(now: number): boolean {
    return this.#lastBeat !== null && now - this.#lastBeat > 2 * MINUTE;
  }

  #isNewDay(now: number): boolean {
    return this.#lastBeat !== null && Math.floor(now / DAY) > Math.floor(this.#lastBeat / DAY);
  }

  /** Today, or yesterday if only yesterday matters. */
  #costDay(threshold: number, { known }: Kept, { spent }: World, now: number): number {
    const today = Math.floor(now / DAY);
    const exceeds = (day: number): boolean => (spent.get(day) ?? 0) > threshold;
    const isOpen =
      (this.#isDayMissed || now - today * DAY < HOUR) && (known === null || known.day < today - 1);
    return isOpen && !exceeds(today) && exceeds(today - 1) ? today - 1 : today;
  }

  #of(id: string): Kept {
    const kept = this.#kept.get(id) ?? { firedAt: null, firings: 0, notMetSince: null, known: null };
    this.#kept.set(id, kept);
    return kept;
  }
}

function costThreshold({ composite_config, threshold }: AlertRule['alert']): number {
  const condition = composite_config?.conditions.find(({ type }) => type === 'cost_threshold');
  return condition && 'threshold' in condition ? condition.threshold : threshold;
}
