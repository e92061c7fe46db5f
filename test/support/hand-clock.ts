export { StillClock as HandClock } from '../../src/telemetry/still-clock.js';
