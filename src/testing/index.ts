/** For tests of plugins: `import … from 'jackdaw/testing'`. */
export { CaptureConsumer } from './capture-consumer.js';
export type { Captured } from './capture-consumer.js';
export { conformance, factoryOf } from './conformance.js';
export type { ConformanceCheck, RunningReceiver, Subject, Surroundings } from './subject.js';
export { sampleBatch } from './samples.js';
export { sectionOf } from './section-of.js';
export { StillClock as TestClock } from '../telemetry/still-clock.js';
export { TEST_USER, TestHost } from './test-host.js';
export type { TestHostOptions, TestRequest } from './test-host.js';
export { TestLogger } from './test-logger.js';
export type { LoggedLine } from './test-logger.js';
export { TestMeter } from './test-meter.js';
