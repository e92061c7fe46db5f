import assert from 'node:assert/strict';
import { parseComponentId } from '../component/component-id.js';
import { signalsOf, type Factory } from '../component/factory.js';
import { SIGNALS } from '../signal/batch.js';
import { assertReleased, openResources } from './held-resources.js';
import { within } from './patience.js';
import { Scene } from './scene.js';
import { sectionOf } from './section-of.js';
import type { ConformanceCheck, Subject } from './subject.js';

/** Number of creations, or of starts and stops, in a leak check. */
const REPEATS = 5;

/** Checks shared by all kinds of components: the factory's declarations, and the life cycle of its components. */
export function lifeChecks(factory: Factory, subject: Subject): readonly ConformanceCheck[] {
  const check = (name: string, run: () => Promise<void>): ConformanceCheck => ({ name, run });
  /** Runs with a component, and looks afterwards whether anything is left. */
  const checkReleased = (name: string, run: (scene: Scene) => Promise<void>): ConformanceCheck =>
    check(name, async () => {
      const before = openResources();
      const scene = await Scene.of(factory, subject);
      try {
        await run(scene);
      } finally {
        await scene.end();
      }
      await assertReleased(scene, before);
      assert.equal(scene.clock.pending, 0, 'no timer of its clock is left');
    });
  const { unstartable } = subject;
  return [
    check('factory: says what it is', async () => {
      describe(factory);
    }),
    check('creation: has no effect', async () => {
      const surroundings = (await subject.prepare?.()) ?? subject;
      try {
        const before = openResources();
        const scenes = await Promise.all(
          Array.from({ length: REPEATS }, () => Scene.of(factory, subject, undefined, surroundings)),
        );
        for (const { clock } of scenes) assert.equal(clock.pending, 0, 'it sets no timer');
        const [first] = scenes;
        if (first) await assertReleased(first, before);
      } finally {
        await surroundings.tearDown?.();
      }
    }),
    checkReleased('life: stops without a start, and twice', async (scene) => {
      await scene.stop();
      await scene.stop();
    }),
    checkReleased('life: starts, stops, and stops again', async (scene) => {
      await scene.start();
      await scene.stop();
      await scene.stop();
    }),
    checkReleased('life: stops during its start', async (scene) => {
      const starting = scene.start().catch(() => undefined);
      await scene.stop();
      await starting;
      await scene.stop();
    }),
    checkReleased('life: stops at once when the time for it is over', async (scene) => {
      await scene.start();
      await scene.stop(AbortSignal.abort());
    }),
    check('leaks: many lives leave nothing behind', async () => {
      const before = openResources();
      for (let i = 0; i < REPEATS; i++) {
        const scene = await Scene.of(factory, subject);
        await scene.start();
        await scene.stop();
        await scene.end();
        if (i < REPEATS - 1) continue;
        await assertReleased(scene, before);
        assert.equal(scene.clock.pending, 0, 'no timer of its clock is left');
      }
    }),
    ...(unstartable === undefined
      ? []
      : [
          check('life: a start that fails says why, and leaves nothing behind', async () => {
            const before = openResources();
            const scene = await Scene.of(factory, subject, undefined, unstartable);
            await assert.rejects(scene.start(), unstartable.error);
            await scene.stop();
            await scene.stop();
            await scene.end();
            await assertReleased(scene, before);
          }),
        ]),
  ];
}

/** @throws AssertionError if the factory's description is incomplete */
function describe(factory: Factory): void {
  assert.equal(parseComponentId(factory.type)?.name, '', 'its type is a name');
  assert.match(factory.type, /^[a-z][a-z0-9_]*$/, 'its type is lower_snake_case');
  assert.match(factory.description, /^[A-Z].*\.$/s, 'its description is one sentence');
  assert.ok(['development', 'alpha', 'beta', 'stable'].includes(factory.stability), 'it says its stability');
  for (const signal of signalsOf(factory)) assert.ok(SIGNALS.includes(signal), `${signal} is a signal`);
  if (factory.kind !== 'extension') assert.ok(signalsOf(factory).length > 0, 'it is for a signal');
  for (const [key, schema] of Object.entries(factory.configSchema.properties))
    assert.ok('description' in schema, `its key ${key} has a description`);
  const { additionalProperties } = factory.configSchema as { readonly additionalProperties?: unknown };
  assert.equal(additionalProperties, false, 'its section refuses keys that it does not know');
  if (factory.kind === 'exporter' && factory.delivery === 'queued')
    assert.ok(
      factory.deliveryConfig !== undefined || 'queue' in factory.configSchema.properties,
      'it is queued, so that its section has deliveryKeys()',
    );
  // If values are required, the message must say so.
  try {
    sectionOf(factory);
  } catch (error) {
    assert.match(String(error), new RegExp(`${factory.kind} "${factory.type}": `));
  }
}

/** Runs work with a component that has started, and stops it. */
export async function whileRunning<T>(scene: Scene, work: () => Promise<T>): Promise<T> {
  try {
    await scene.start();
    return await within(scene, 'the check', work());
  } finally {
    await scene.stop();
    await scene.end();
  }
}
