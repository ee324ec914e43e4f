import type { Telemetry } from 'bullmq';
import { type ErrorLog, createLimitedLog } from '../../shared/error-log.ts';
import { withTimeout } from '../../shared/timeout.ts';

/** Attributes of a span: values that the service chooses, never a path, a query or text of a caller. */
export type SpanAttributes = Record<string, string | number>;

export interface SpanOptions {
  kind: 'server' | 'client' | 'internal';
  /** The traceparent (W3C Trace Context) of a remote parent; the default is the current span. */
  parent?: string | undefined;
}

/** Traces by the conventions of OpenTelemetry. Does nothing when tracing is off. */
export interface Tracing {
  /** Runs a function as a span. The function can add attributes and a better name with `note`. */
  span<T>(
    name: string,
    options: SpanOptions,
    run: (note: (facts: SpanAttributes, name?: string) => void) => Promise<T>,
  ): Promise<T>;
  /** The traceparent of the current span, if it is sampled. */
  current(): string | undefined;
  /** Runs a function as part of another trace, or of none. */
  runWithin<T>(traceparent: string | undefined, run: () => Promise<T>): Promise<T>;
  /** For BullMQ. */
  telemetry: Telemetry | undefined;
  /** Sends the remaining spans; waits at most two seconds. */
  close(): Promise<void>;
}

export const untraced: Tracing = {
  span: (_name, _options, run) => run(() => undefined),
  current: () => undefined,
  runWithin: (_traceparent, run) => run(),
  telemetry: undefined,
  close: () => Promise.resolve(),
};

export interface TracingOptions {
  /** The OTLP endpoint over HTTP, such as `http://collector:4318`; tracing is off without it. */
  endpoint: string | undefined;
  service: string;
  version: string;
  log: ErrorLog;
}

const shutdownTimeoutMs = 2_000;

/**
 * Starts tracing for a process. OpenTelemetry is loaded only when tracing is on. The SDK reads other settings, such as OTEL_TRACES_SAMPLER,
 * from the environment.
 */
export async function openTracing({ endpoint, service, version, log }: TracingOptions): Promise<Tracing> {
  if (endpoint === undefined) return untraced;
  const [api, core, sdk, resources, hooks, exporter, bull] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/core'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('bullmq-otel'),
  ]);
  const {
    context,
    diag,
    propagation,
    trace,
    isSpanContextValid,
    DiagLogLevel,
    SpanKind,
    SpanStatusCode,
    TraceFlags,
  } = api;
  const report = createLimitedLog(log);
  const warn = (message: string) => report('traces could not be sent', new Error(message));
  const mute = () => undefined;
  diag.setLogger({ error: warn, warn, info: mute, debug: mute, verbose: mute }, DiagLogLevel.WARN);

  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const provider = new sdk.BasicTracerProvider({
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes({ 'service.name': service, 'service.version': version }))
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter({ url }))],
  });
  context.setGlobalContextManager(new hooks.AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new core.W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  const tracer = trace.getTracer('ams', version);
  const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };
  const contextOf = (traceparent: string) => propagation.extract(api.ROOT_CONTEXT, { traceparent });

  return {
    span(name, { kind, parent }, run) {
      const around = parent === undefined ? context.active() : contextOf(parent);
      return tracer.startActiveSpan(name, { kind: kinds[kind] }, around, async (span) => {
        try {
          return await run((facts, better) => {
            span.setAttributes(facts);
            if (better !== undefined) span.updateName(better);
          });
        } catch (error) {
          // The message of an error may hold text of a caller; its name does not.
          const kindOfError = error instanceof Error ? error.name : 'unknown';
          span.setAttribute('error.type', kindOfError);
          span.setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          span.end();
        }
      });
    },
    current() {
      const now = trace.getSpanContext(context.active());
      if (!now || !isSpanContextValid(now) || (now.traceFlags & TraceFlags.SAMPLED) === 0) return undefined;
      return `00-${now.traceId}-${now.spanId}-01`;
    },
    runWithin: (traceparent, run) =>
      context.with(traceparent === undefined ? api.ROOT_CONTEXT : contextOf(traceparent), run),
    telemetry: new bull.BullMQOtel({ tracerName: 'bullmq' }),
    async close() {
      const sent = provider.shutdown().catch((error: unknown) => report('traces could not be sent', error));
      await withTimeout(shutdownTimeoutMs, sent, () => undefined);
      context.disable();
      propagation.disable();
      trace.disable();
      diag.disable();
    },
  };
}
