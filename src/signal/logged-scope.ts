/** The instrumentation scope of spans made from log events. Their calls count only in runs whose spans report none. */
export const LOGGED_SCOPE = 'jackdaw.log_events';
