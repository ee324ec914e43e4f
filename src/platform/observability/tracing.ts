import type { Telemetry } from 'bullmq';
import { type ErrorLog, createLimitedLog } from '../../shared/error-log.ts';
import { withTimeout } from '../../shared/timeout.ts';

/** What is told about a span: values of our own making, never a path, a query, or a word of a caller. */
export type SpanAttributes = Record<string, string | number>;

export interface SpanOptions {
  kind: 'server' | 'client' | 'internal';
  /** A traceparent (W3C Trace Context) that comes from outside; without one it belongs to what is going on. */
  parent?: string | undefined;
}

/** Traces by the conventions of OpenTelemetry. Where they are off, all of this does nothing. */
export interface Tracing {
  /** Runs something as a span. What `run` answers may tell facts about it by `note`, and another name under `name`. */
  span<T>(
    name: string,
    options: SpanOptions,
    run: (note: (facts: SpanAttributes, name?: string) => void) => Promise<T>,
  ): Promise<T>;
  /** The traceparent of what is going on, when it is recorded. */
  current(): string | undefined;
  /** Runs something as a part of another trace, or of none. */
  runWithin<T>(traceparent: string | undefined, run: () => Promise<T>): Promise<T>;
  /** For BullMQ. */
  telemetry: Telemetry | undefined;
  /** Sends what is left, for two seconds at most. */
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
  /** Where traces are sent by OTLP over HTTP, such as `http://collector:4318`; without it there are none. */
  endpoint: string | undefined;
  service: string;
  version: string;
  log: ErrorLog;
}

const shutdownTimeoutMs = 2_000;

/**
 * Opens the traces of a process. Nothing of OpenTelemetry is loaded while they are off. Everything else about them, such as
 * OTEL_TRACES_SAMPLER and OTEL_EXPORTER_OTLP_HEADERS, the SDK takes from the environment by its standard names.
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
  const tell = (message: string) => report('traces could not be sent', new Error(message));
  const mute = () => undefined;
  diag.setLogger({ error: tell, warn: tell, info: mute, debug: mute, verbose: mute }, DiagLogLevel.WARN);

  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const provider = new sdk.BasicTracerProvider({
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes({ 'service.name': service, 'service.version': version })),
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
          // The words of an error may be a caller's own; its kind is not.
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
