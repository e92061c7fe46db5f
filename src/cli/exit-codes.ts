/** Exit codes. Printed by `jackdaw --help`. */
export const EXIT = {
  ok: 0,
  /** A failure at run time. */
  failure: 1,
  /** Unknown command or option, or an invalid value; the convention of BSD and bash. */
  usage: 2,
  /** `EX_CONFIG` of sysexits.h. */
  configuration: 78,
  /** A second SIGINT or SIGTERM while stopping: 128 and the signal's number. */
  secondSigint: 130,
  secondSigterm: 143,
} as const;

export const EXIT_CODE_HELP = `
Exit codes:
  0    done, or stopped after SIGINT or SIGTERM
  1    failure: the daemon could not start, had to stop, or a command failed
  2    usage: unknown command or option, missing argument, or an invalid value
  78   configuration: problems are printed with file, line and column
  130, 143   a second SIGINT or SIGTERM ended the process immediately`;
