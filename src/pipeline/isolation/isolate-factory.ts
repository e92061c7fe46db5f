import type { TObject } from 'typebox';
import type { Component, Reload } from '../../component/component.js';
import type { Consumer } from '../../component/consumer.js';
import type {
  Exporter,
  Factory,
  Outputs,
  PluginModule,
  ProcessorFactory,
  Settings,
} from '../../component/factory.js';
import type { Placement, PlacementContext } from '../../component/intake.js';
import { SIGNALS, type Batches, type Signal } from '../../signal/batch.js';
import { ConsumeGuard } from './consume-guard.js';
import { OutputGuard } from './guarded-outputs.js';
import { schemaWithLimits, splitLimits, type PluginLimits } from './limits.js';
import { PluginFaults } from './plugin-faults.js';
import { runAs, runAsProgram } from './plugin-scope.js';
import type { Host } from '../../component/host.js';
import type { Clock, Meter } from '../../component/telemetry.js';
import { guardedHost } from './guarded-host.js';

type Config = Record<string, unknown>;
type AnySettings = Settings<Config>;
type AnyConsumer = Consumer<Batches[Signal]>;

/**
 * Wraps a plugin's factory so that faults of its components do not affect the rest of the daemon: it adds limits of time and
 * number, validates receipts and batches, confines errors to their batch, and reports faults as a status. The component's section
 * gets the key `plugin_limits`.
 *
 * @param module where intake threads load the plugin from; otherwise its components run on the main thread
 */
export function isolateFactory(factory: Factory, plugin: string, module?: PluginModule): Factory {
  const base = {
    type: factory.type,
    description: factory.description,
    stability: factory.stability,
    configSchema: schemaWithLimits(factory),
    check: (config: Config) => checked(factory, plugin, config),
    resources: (config: Config) => factory.resources?.(splitLimits(config).own) ?? [],
    secrets: (config: Config) => factory.secrets?.(splitLimits(config).own) ?? [],
  };
  switch (factory.kind) {
    case 'receiver':
      return {
        ...base,
        kind: 'receiver',
        signals: factory.signals,
        create: (settings) => {
          const tools = toolsFor(factory, plugin, settings);
          const guard = new OutputGuard(tools);
          const outputs = guard.outputs(settings.outputs);
          const component = made(factory, tools, () => factory.create({ ...tools.settings, outputs }));
          return guardedLife(component, tools, () => {
            guard.open();
          });
        },
      };
    case 'processor':
      return {
        ...base,
        kind: 'processor',
        ...(module && {
          module,
          placement: (config: Config, context: PlacementContext) => placementOf(factory, config, context),
        }),
        // Always true, whatever the plugin declares, so that no other component sees its changes.
        mutatesBatch: true,
        create: Object.fromEntries(
          SIGNALS.filter((signal) => factory.create[signal] !== undefined).map((signal) => [
            signal,
            (settings: AnySettings & { readonly next: AnyConsumer }) => {
              const tools = toolsFor(factory, plugin, settings);
              const guard = new ConsumeGuard(tools);
              const next: AnyConsumer = guard.behind(settings.next);
              const component = made(factory, tools, () =>
                factory.create[signal]?.({ ...tools.settings, next }),
              );
              assertConsumer(component, `processor "${factory.type}"`);
              return {
                ...guardedLife(component, tools),
                ...tools.faults.shared,
                ...guard.before(component),
              };
            },
          ]),
        ),
      };
    case 'exporter':
      return {
        ...base,
        kind: 'exporter',
        signals: factory.signals,
        delivery: factory.delivery,
        deliveryConfig: (config) => {
          const { own } = splitLimits(config);
          return factory.deliveryConfig?.(own) ?? own;
        },
        create: (settings) => {
          const tools = toolsFor(factory, plugin, settings);
          const guard = new ConsumeGuard(tools);
          const component = made(factory, tools, () => factory.create(tools.settings)) as Exporter;
          return { ...guardedLife(component, tools), inputs: inputsOf(component, guard, factory.type) };
        },
      };
    case 'extension':
      return {
        ...base,
        kind: 'extension',
        create: (settings) => {
          const tools = toolsFor(factory, plugin, settings);
          const component = made(factory, tools, () => factory.create(tools.settings));
          // Other components find it by its methods, so it cannot be wrapped.
          return Object.assign(component, guardedLife(component, tools));
        },
      };
  }
}

/** @throws Error that names the processor */
function placementOf(factory: ProcessorFactory, config: Config, context: PlacementContext): Placement {
  try {
    return factory.placement?.(splitLimits(config).own, context) === 'any' ? 'any' : 'main';
  } catch (cause) {
    throw new Error(`placement of processor "${factory.type}" failed: ${String(cause)}`, { cause });
  }
}

interface Tools extends LifeTools {
  /** The settings passed to the plugin. */
  readonly settings: AnySettings;
}

function toolsFor({ kind }: Factory, plugin: string, settings: AnySettings): Tools {
  const { id, logger, meter, clock } = settings;
  const faults = new PluginFaults({ plugin, kind, id }, { logger, meter, clock });
  const { own, limits } = splitLimits(settings.config);
  return {
    limits,
    faults,
    clock,
    settings: {
      id,
      config: own,
      logger,
      meter: guardedMeter(meter, faults),
      clock: guardedClock(clock, faults),
    },
  };
}

/**
 * Creates a plugin's component.
 *
 * @throws Error if the result is not a component
 */
function made(factory: Factory, { faults }: Tools, make: () => unknown): Component {
  const component = runAs(faults, make);
  if (typeof component !== 'object' || component === null)
    throw new Error(`create of ${factory.kind} "${factory.type}" returned no component`);
  if (component instanceof Promise)
    throw new Error(`create of ${factory.kind} "${factory.type}" is asynchronous: move slow work to start`);
  if (factory.kind === 'extension' && !Object.isExtensible(component))
    throw new Error(`create of extension "${factory.type}" returned a frozen object`);
  return component;
}

function inputsOf(component: Exporter, guard: ConsumeGuard, type: string): Outputs {
  const given: unknown = component.inputs;
  if (typeof given !== 'object' || given === null) throw new Error(`exporter "${type}" has no inputs`);
  const inputs = SIGNALS.flatMap((signal) => {
    const input: AnyConsumer | undefined = component.inputs[signal];
    if (input === undefined) return [];
    assertConsumer(input, `the input of exporter "${type}" for ${signal}`);
    return [[signal, guard.before(input)] as const];
  });
  return Object.fromEntries(inputs);
}

function assertConsumer(candidate: object, what: string): asserts candidate is AnyConsumer {
  if (!('consume' in candidate) || typeof candidate.consume !== 'function')
    throw new Error(`${what} has no function consume`);
}

function checked(
  factory: Factory & { readonly configSchema: TObject },
  plugin: string,
  config: Config,
): readonly { readonly path: string; readonly message: string }[] {
  try {
    return factory.check?.(splitLimits(config).own) ?? [];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [{ path: '', message: `plugin "${plugin}" failed its check: ${reason}` }];
  }
}

interface LifeTools {
  readonly limits: PluginLimits;
  readonly faults: PluginFaults;
  readonly clock: Clock;
}

/**
 * Guards the start and the end of a plugin's component. The start has its own time limit; for the end, all components share one
 * deadline.
 *
 * @param onStart called when the component starts
 */
function guardedLife(
  component: Component,
  tools: LifeTools,
  onStart: () => void = () => undefined,
): Required<Pick<Component, 'start' | 'reload' | 'shutdown'>> {
  const { limits, faults, clock } = tools;
  // Read before extensions get these methods replaced.
  const start = component.start?.bind(component);
  const shutdown = component.shutdown?.bind(component);
  const reload = component.reload?.bind(component);
  return {
    async start(host: Host): Promise<void> {
      faults.follow(host);
      onStart();
      if (start === undefined) return;
      let cancel = (): void => undefined;
      const late = new Promise<never>((_, reject) => {
        cancel = clock.after(limits.startMs, () => {
          faults.note('timeout', 'did not start in time');
          reject(new Error(`it did not start within ${limits.startMs} ms (plugin_limits.start_timeout)`));
        });
      });
      try {
        await Promise.race([runAs(faults, async () => start(guardedHost(host, tools))), late]);
      } finally {
        cancel();
      }
    },
    async reload(now: Reload): Promise<boolean> {
      return (await runAs(faults, async () => reload?.(now))) === true;
    },
    async shutdown(deadline: AbortSignal): Promise<void> {
      try {
        await runAs(faults, async () => shutdown?.(deadline));
      } finally {
        faults.end();
      }
    },
  };
}

/** A plugin's clock: errors of its callbacks are recorded and not propagated. */
function guardedClock(clock: Clock, faults: PluginFaults): Clock {
  return {
    now: () => clock.now(),
    after: (ms, callback) =>
      runAsProgram(() =>
        clock.after(ms, () => {
          callPlugin(faults, callback);
        }),
      ),
  };
}

/** A plugin's meter: a value that cannot be read is `NaN`, so that all others are still exported. */
function guardedMeter(meter: Meter, faults: PluginFaults): Meter {
  const guarded = (read: () => number) => () => {
    const value = callPlugin(faults, read);
    return typeof value === 'number' ? value : NaN;
  };
  return {
    counter: (name, options) => meter.counter(name, options),
    histogram: (name, options) => meter.histogram(name, options),
    observedCounter: (name, options, read) => {
      // A counter that cannot be read keeps its last value.
      let last = 0;
      const readGuarded = guarded(read);
      meter.observedCounter(name, options, () => {
        const value = readGuarded();
        if (value >= last) last = value;
        return last;
      });
    },
    gauge: (name, options, read, labels) => meter.gauge(name, options, guarded(read), labels),
  };
}

function callPlugin<T>(faults: PluginFaults, callback: () => T): T | undefined {
  try {
    return runAs(faults, callback);
  } catch (error) {
    faults.note('uncaught', 'threw an error in a callback', { error });
    return undefined;
  }
}
