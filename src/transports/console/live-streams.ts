import { setTimeout as pause } from 'node:timers/promises';
import { type ComponentChildren, h } from 'preact';
import type { Context } from 'koa';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import type { FeedWatch } from '../../realtime/feed-watch.ts';
import { OpenApprovals, openApprovalsId } from './components/live-region.tsx';
import { createSseStream, sendStream, sseRetry, sseText, type SseStream } from '../http/sse.ts';
import { addressKey } from '../http/address-key.ts';
import { type LiveState, readLiveState } from '../../services/people/live-pages.ts';
import type { ServiceCalls } from '../../services/people/service-calls.ts';
import { steadyNow } from '../../shared/clock.ts';

/** What changes on an open page. */
export interface LiveUpdate {
  content: ComponentChildren;
  /** The title of the page, if it changes with the content. */
  title?: string;
  /** For a page with the navigation. */
  openApprovals?: number;
}

/** The part of a page that is kept up to date. */
export interface LiveContent {
  /** The id of the part. Absent: the stream has the content for a script. */
  target?: string;
  /** For the page of one conversation. */
  thread_id?: string;
  /** For a page without an account. */
  link?: {
    id: string;
    /** Undefined when the page has ended. */
    readState(): Promise<LiveState | undefined>;
  };
  /** Reads and renders the content with the person's current rights. @throws {DomainError} when the person may not read it any more */
  render(): Promise<LiveUpdate>;
  /** For a stream that says that a page is open. It is renewed when the stream begins. */
  lease?: { renew(): Promise<void> };
}

export interface LiveStreams {
  /**
   * Answers with an event stream (HTML standard, section 9.2): one event for each change, with the whole content as a stream action of Turbo and the cursor after it as id.
   * The event `end` says that the page is no longer live.
   * @throws {DomainError} RATE_LIMITED
   */
  serve(ctx: Context, person: Person | undefined, content: LiveContent): void;
}

export interface LiveStreamsParts {
  services: Pick<ServiceCalls, 'read'>;
  watch: FeedWatch;
  renderFragment(ctx: Context, person: Person | undefined, content: ComponentChildren): string;
  /**
   * How long a stream with a lease lasts, in milliseconds, so that one to a sleeping computer does not count as an open page. The browser
   * connects again and gets the whole content.
   */
  leasedStreamMs: number;
  /** Ends all streams; browsers then connect to another process. */
  draining: AbortSignal;
}

/** Milliseconds between two checks of session, rights and feeds, so a revoked right ends a stream within 5 s. Wake-ups only make it sooner. */
const checkMs = 3_000;

/** Milliseconds between two updates: the least after a quiet time. It doubles up to the most while news keep coming. */
const updateMs = { least: 25, most: 200 };

const maxStreamsPerPerson = 30;
/** Each reads the link every three seconds. */
const maxStreamsPerLink = 100;
/** One reader cannot take the place of all others. */
const maxStreamsPerLinkAndAddress = 10;

/** A browser that does not read for four heartbeats is disconnected. */
const heartbeatMs = 5_000;

/** Serves the live parts of pages. Each stream reads rights and counters again before every update. */
export function createLiveStreams(parts: LiveStreamsParts): LiveStreams {
  const open = new Map<string, number>();

  function count(id: string, change: 1 | -1): void {
    const streams = (open.get(id) ?? 0) + change;
    if (streams > 0) open.set(id, streams);
    else open.delete(id);
  }

  return {
    serve(ctx, person, content) {
      const reader = readerOf(parts, ctx, person, content);
      const counted = reader?.counted ?? [];
      if (counted.some(({ key, max }) => (open.get(key) ?? 0) >= max)) {
        throw new DomainError('RATE_LIMITED', 'You have too many live pages open. Close some of them.', {
          retry_after: 10,
        });
      }
      const sse = createSseStream(heartbeatMs);
      sendStream(ctx, sse, `${sseRetry()}\n`);
      if (!reader) {
        void sse.write(endEvent);
        sse.end();
        return;
      }
      for (const { key } of counted) count(key, 1);
      void follow(parts, { ctx, person, content, readState: reader.readState, sse })
        // The browser connects again.
        .catch(() => sse.body.destroy())
        .finally(() => counted.forEach(({ key }) => count(key, -1)));
    },
  };
}

/** The person who has a page open, or the link with which it was opened, and what its streams count for. Undefined: neither. */
function readerOf(
  { services }: LiveStreamsParts,
  ctx: Context,
  person: Person | undefined,
  { link, thread_id }: LiveContent,
) {
  if (link) {
    const { id, readState } = link;
    const ofAddress = { key: `${id} ${addressKey(ctx)}`, max: maxStreamsPerLinkAndAddress };
    return { counted: [{ key: id, max: maxStreamsPerLink }, ofAddress], readState };
  }
  if (!person) return undefined;
  const readState = () => services.read(readLiveState, person, thread_id ?? null);
  return { counted: [{ key: person.account_id, max: maxStreamsPerPerson }], readState };
}

interface OpenStream {
  ctx: Context;
  person: Person | undefined;
  content: LiveContent;
  readState(): Promise<LiveState | undefined>;
  sse: SseStream;
}

const endEvent = 'event: end\ndata:\n\n';

/** Sends updates until the browser leaves, the process stops, or the person may no longer read the page. */
async function follow(parts: LiveStreamsParts, stream: OpenStream): Promise<void> {
  const { ctx, content, readState, sse } = stream;
  const watcher = parts.watch.open();
  const closing = new AbortController();
  sse.body.once('close', () => closing.abort());
  const signal = AbortSignal.any([closing.signal, parts.draining]);
  const { lease } = content;
  const known = ctx.get('Last-Event-ID') || new URLSearchParams(ctx.querystring).get('cursor');
  let cursor = lease ? null : known;
  const end = lease ? steadyNow() + parts.leasedStreamMs : Infinity;
  let sent = '';
  let pauseMs = updateMs.least;
  try {
    await lease?.renew();
    while (!signal.aborted && steadyNow() < end) {
      const state = await readState();
      const html = state && state.cursor !== cursor ? await renderOrEnd(parts, stream) : undefined;
      if (!state || html === null) {
        void sse.write(endEvent);
        break;
      }
      watcher.follow(state.agent_ids);
      if (html !== undefined && html !== sent) await sse.write(sseText(state.cursor, html));
      sent = html ?? sent;
      cursor = state.cursor;
      await pause(pauseMs);
      const paused = performance.now();
      await watcher.wait(checkMs, signal);
      const isBusy = performance.now() - paused < pauseMs;
      pauseMs = isBusy ? Math.min(2 * pauseMs, updateMs.most) : updateMs.least;
    }
  } finally {
    watcher.close();
    sse.end();
  }
}

/** An action of a stream of Turbo. */
const update = (attributes: object, content: ComponentChildren) =>
  h('turbo-stream', { action: 'update', ...attributes }, h('template', null, content));

/** Null when the person may no longer read the content. */
async function renderOrEnd(
  { renderFragment }: LiveStreamsParts,
  { ctx, person, content }: OpenStream,
): Promise<string | null> {
  try {
    const { content: children, title, openApprovals } = await content.render();
    const { target } = content;
    const updates = [
      title !== undefined && update({ targets: 'head > title' }, title),
      openApprovals !== undefined &&
        update({ target: openApprovalsId }, h(OpenApprovals, { count: openApprovals })),
      target === undefined ? children : update({ target, method: 'morph' }, children),
    ];
    return renderFragment(ctx, person, updates);
  } catch (error) {
    if (error instanceof DomainError && error.status === 404) return null;
    throw error;
  }
}
