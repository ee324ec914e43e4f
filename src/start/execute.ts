import type { Core } from '../compose.ts';
import { createCountOutcomes } from '../operations/execute/count-outcomes.ts';
import type { Stage } from '../operations/execute/context.ts';
import { createExecute, createStages, type Execute } from '../operations/execute/execute.ts';
import { createIntake, type Intake } from '../operations/execute/file-intake.ts';
import { createUploadLimit, type UploadLimit } from '../operations/execute/upload-limit.ts';
import type { InboxWatches } from '../operations/execute/await-items.ts';
import type { CallerFeed } from '../operations/execute/await-reply.ts';
import type { RateLimits } from '../operations/rate-limits.ts';
import { createWarningLog } from './connections.ts';

/** Returns what stores the bytes of files. */
export function openIntake(
  { blobs, config, logger }: Pick<Core, 'blobs' | 'config' | 'logger'>,
  uploads = createUploadLimit(config),
): Intake {
  return createIntake({ blobs, types: config.ATTACHMENT_TYPES, uploads, log: createWarningLog(logger) });
}

/** Returns `execute` for one transport: traced, and counted in the metrics under the name of the transport. */
export function createExecuteFor(
  core: Core,
  limits: RateLimits,
  feed: CallerFeed & InboxWatches,
  uploads: UploadLimit,
): (transport: string) => Execute {
  const { tracing, metrics } = core;
  const intake = openIntake(core, uploads);
  const stages = createStages(core.unitOfWork, { limits, intake, feed });

  return function executeFor(transport) {
    const traceSpan: Stage =
      ({ name }, next) =>
      (context) =>
        tracing.span(name, { kind: 'internal' }, (setAttributes) => {
          setAttributes({ 'ams.operation': name, 'ams.transport': transport });
          return next(context);
        });
    const countOutcomes = createCountOutcomes((operation, outcome) =>
      metrics.operations.inc({ operation, transport, outcome }),
    );
    return createExecute([countOutcomes, traceSpan, ...stages]);
  };
}
