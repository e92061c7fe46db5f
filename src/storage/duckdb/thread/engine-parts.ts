import type { Logger } from '../../../component/telemetry.js';
import { systemClock } from '../../../telemetry/system-clock.js';
import { Agents } from '../stats/agents.js';
import { MOST_AGENTS, OtherAgents } from '../stats/agent-limit.js';
import { Observations } from '../read/observations.js';
import { BackPressure } from '../write/back-pressure.js';
import { storedSums } from '../segments/cold-sums.js';
import { Database, type DatabaseListener } from '../files/database.js';
import { Damage, damageIn } from '../files/damage.js';
import { DiskRoom } from '../files/disk-room.js';
import { Housekeeping } from './housekeeping.js';
import { openIndexes } from '../index/indexes.js';
import { IdleRuns } from '../write/idle-runs.js';
import { ItemCounts } from '../write/item-counts.js';
import { EventReads } from '../write/event-reads.js';
import { RECENT_SIZE, RecentEvents } from '../write/recent-events.js';
import { StoredLogs } from './stored-logs.js';
import { StoredMetrics } from './stored-metrics.js';
import { REBUILD_SIZE } from '../maintenance/rebuild-work.js';
import { Services } from '../write/services.js';
import { openMainFile, refuseWithoutMain } from '../files/main-file.js';
import { lastSeen } from '../write/last-seen.js';
import { Compactor } from '../maintenance/compactor.js';
import { NamedBatches } from '../write/named-batches.js';
import { Origins } from '../write/origins.js';
import { StoredPrompts } from './stored-prompts.js';
import { OWN_READS, READ_LIMITS, readsAtATime } from '../segments/read-limits.js';
import { openPool } from '../segments/connection-pool.js';
import { Reads } from '../segments/read.js';
import { RetentionClock } from '../files/retention-clock.js';
import { CachedStats } from '../stats/cached-stats.js';
import { RunStats } from '../stats/run-stats.js';
import type { RunChanges } from '../stats/counted-run.js';
import type { StoreReads } from './store-reads.js';
import { AgentReads } from '../read/agent-reads.js';
import { MapReads } from '../read/map-reads.js';
import { ModelReads } from '../read/model-reads.js';
import { PastReads } from '../read/past-reads.js';
import { RunReads } from '../read/run-reads.js';
import { GroupReads } from '../read/run-groups.js';
import { ScoreReads } from '../read/run-scores.js';
import { SeriesReads } from '../read/series-reads.js';
import { SessionReads } from '../read/session-reads.js';
import { UsageReads } from './usage-reads.js';
import { SegmentFiles } from '../files/segment-files.js';
import { Segments } from '../segments/segments.js';
import { ChangeApplier } from '../write/change-applier.js';
import { TruncatedRuns } from '../write/truncated-runs.js';
import { Reloads } from '../write/reloads.js';
import { RUN_SIZE } from '../write/run-size.js';
import type { StoreListener, StoreOptions } from './store-options.js';
import { openError } from '../files/store-open-error.js';
import { HealthIssues } from '../files/health-issues.js';
import { SEGMENT_SIZE, Writer } from '../write/writer.js';
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makePrivate } from '../../../config/private-path.js';

/** Everything that the engine works with, opened and loaded. */
export type EngineParts = Awaited<ReturnType<typeof compose>>;

/** The parts that are open before the first telemetry file. */
interface Opened {
  readonly database: Database;
  readonly healthIssues: HealthIssues;
  readonly room: DiskRoom;
  readonly damage: Damage;
  /** Background work on the files; closed before the files, in reverse order. */
  readonly working: { close(): Promise<void> }[];
}

/** Opens a store. @throws StoreOpenError with the file and the remedy */
export async function openParts(
  options: StoreOptions,
  logger: Logger,
  listener: StoreListener,
): Promise<EngineParts> {
  makeStorePrivate(options.path, logger);
  refuseWithoutMain(options.path);
  const healthIssues = new HealthIssues(listener.troubled);
  const { path, reserveBytes: bytes = 0 } = options;
  const room = new DiskRoom({ mainPath: path, bytes, logger, clock: systemClock, healthIssues });
  const damage = new Damage({ names: new SegmentFiles(path), logger, clock: systemClock, healthIssues });
  const failed: DatabaseListener['failed'] = (error, files) => {
    room.notice(error);
    damage.notice(error, files);
  };
  const warn: DatabaseListener['warn'] = (fields, message) => {
    logger.warn(fields, message);
  };
  try {
    const database = await Database.open(options, { died: listener.died, failed, warn });
    const opened: Opened = { database, healthIssues, room, damage, working: [] };
    try {
      await room.begin();
      const parts = await compose(opened, options, logger, listener);
      room.keep();
      return parts;
    } catch (error) {
      for (const one of opened.working.reverse()) await one.close();
      database.close();
      // Opening reads all names and sums, so damage there prevents the start.
      throw damage.file !== null && damageIn(error) !== null ? openError(damage.file, error) : error;
    }
  } catch (error) {
    await room.close();
    throw error;
  }
}

async function compose(
  { database, healthIssues, room, damage, working }: Opened,
  options: StoreOptions,
  logger: Logger,
  listener: StoreListener,
) {
  // The files.
  const main = await openMainFile(database, options, { logger, healthIssues });
  const segments = await Segments.open(await database.connect(), options.path, {
    logger,
    clock: systemClock,
    healthIssues,
    acceptsLoss: options.acceptsLoss,
  });
  working.push(segments);
  const connection = await database.connect();
  const readLimits = options.readLimits ?? READ_LIMITS;
  const poolOptions = {
    size: readsAtATime(readLimits),
    maxWaiting: readLimits.maxWaiting,
    maxWaitingOfShare: readLimits.maxWaitingOfUser,
    timeoutMs: readLimits.timeoutMs,
    timeoutKey: 'extensions.duckdb.read_timeout',
    clock: systemClock,
  };
  const pools = {
    users: await openPool(database, poolOptions),
    own: await openPool(database, {
      ...poolOptions,
      size: OWN_READS,
      maxWaitingOfShare: readLimits.maxWaiting,
    }),
  };
  const reads = new Reads(pools.users, pools.own, segments);
  const indexes = await openIndexes(connection, reads.forWork('ids'), {
    mainPath: options.path,
    lastSeq: segments.lastSeq,
    logger,
    size: options.indexSize,
  });
  const { traces, truncatedSpans, withEvents, links, verdicts } = indexes;
  working.push(traces, truncatedSpans, withEvents, links, verdicts);

  // Data loaded from them and kept in memory.
  const otherAgents = new OtherAgents(options.maxAgents ?? MOST_AGENTS, logger);
  const agents = new Agents(otherAgents);
  const origins = new Origins();
  const names = new NamedBatches();
  const metrics = new StoredMetrics(origins, names);
  const counts = new ItemCounts();
  const services = new Services();
  const stats = new RunStats();
  const capture = segments.capture();
  try {
    for (const kept of [agents, origins, metrics, counts, names, services])
      await kept.load(connection, capture);
    await stats.load(storedSums(connection, capture));
  } finally {
    capture.release();
  }
  const logs = new StoredLogs(origins, names, { withEvents, verdicts, traces });
  const prompts = new StoredPrompts(links, traces, reads);

  // State in memory that commits change in addition to the tables.
  const kept = new CachedStats();
  const idle = new IdleRuns();
  const recent = new RecentEvents(segments.lastSeq, options.recentSize ?? RECENT_SIZE);
  const truncatedRuns = new TruncatedRuns(connection, truncatedSpans, { logger, clock: systemClock });
  const runs: RunChanges = {
    change: (before, after, activeAt) => {
      stats.change(before, after, activeAt);
      kept.change(before, after);
    },
  };

  // Compaction and writes.
  const compactor = new Compactor(await database.connect(), {
    segments,
    healthIssues,
    damage,
    logger,
    settings: options.compactionSettings,
  });
  const runSize = { ...RUN_SIZE, maxSpans: options.maxRunSpans, ...options.runSize };
  const reloads = new Reloads(runSize, logger, systemClock);
  const applier = new ChangeApplier({
    connection,
    traces,
    agents,
    recent,
    services,
    runs,
    idle,
    prompts,
    runSize,
    truncatedRuns,
    reloads,
    verdicts,
  });
  const pressure = new BackPressure(
    () => segments.sealed.length,
    options.maxWaitingSegments ?? Infinity,
    systemClock,
  );
  const writer = new Writer({
    pressure,
    room,
    connection,
    segments,
    applier,
    agents,
    counts,
    logger,
    onCommit: listener.committed,
    segmentSize: options.segmentSize ?? SEGMENT_SIZE,
    filterBytes: options.filterBytes,
    onSealed: () => {
      compactor.wake();
    },
  });

  // Retention and rebuilds of the service map.
  const upkeep = reads.forWork('upkeep');
  const retentionClock = new RetentionClock({
    notes: main.clockNotes,
    seenUpTo: () => upkeep(lastSeen),
    healthIssues,
    logger,
  });
  const housekeeping = new Housekeeping({
    retention: options,
    clock: retentionClock,
    read: upkeep,
    readIdle: reads.forWork('time-outs'),
    writer,
    room,
    segments,
    compactor,
    applier,
    stats,
    kept,
    metrics,
    prompts,
    logs,
    traces,
    truncatedSpans,
    idle,
    recent,
    map: {
      read: reads.forWork('map'),
      writer,
      services,
      agents,
      size: options.rebuildSize ?? REBUILD_SIZE,
    },
  });

  // Reads for users, alerts and the control store.
  const readers: StoreReads = {
    runs: new RunReads({ agents, traces, withEvents, stats, services }),
    agents: new AgentReads({ agents, stats, days: kept.days }),
    models: new ModelReads(agents),
    series: new SeriesReads({ agents, cells: kept.cells }),
    groups: new GroupReads(agents),
    sessions: new SessionReads(agents),
    scores: new ScoreReads(agents),
    map: new MapReads(),
    past: new PastReads({ agents, services, metrics }),
    usage: new UsageReads(counts),
    metrics,
    logs,
    prompts,
  };
  const observations = new Observations({
    read: reads.forWork('alerts'),
    agents,
    stats,
    services,
    metrics,
  });
  const events = new EventReads({ recent, read: reads.forWork('events') });

  compactor.wake();
  return {
    ...readers,
    database,
    main,
    segments,
    compactor,
    writer,
    pressure,
    room,
    damage,
    pools,
    reads,
    metrics,
    logs,
    services,
    traces,
    truncatedSpans,
    truncatedRuns,
    reloads,
    prompts,
    events,
    recent,
    observations,
    housekeeping,
    otherAgents,
    retentionClock,
    knownAgents: agents,
  };
}

/**
 * Removes other users' permissions from the files of a store: they may come from a backup, or from a process with another umask.
 *
 * @param mainPath the other files are next to it, under its name
 */
function makeStorePrivate(mainPath: string, logger: Logger): void {
  const directory = dirname(mainPath);
  const base = basename(mainPath).replace(/\.(duckdb|db)$/, '');
  const narrowed: string[] = [];
  for (const name of existsSync(directory) ? readdirSync(directory) : []) {
    if (name !== base && !name.startsWith(`${base}.`)) continue;
    try {
      if (makePrivate(join(directory, name))) narrowed.push(name);
    } catch (error) {
      logger.warn(
        { err: error, file: join(directory, name) },
        'Other users can access a file of the store, and its permissions could not be changed',
      );
    }
  }
  if (narrowed.length > 0)
    logger.info({ directory, files: narrowed }, 'Removed access of other users to the files of the store');
}
