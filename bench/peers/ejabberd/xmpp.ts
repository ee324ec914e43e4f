import { openLightSocket } from '../../load/light-socket.ts';
import { buildNumberedContent, readNumber } from '../../load/tally.ts';
import type { Connection, Role } from '../peer.ts';
import { domain, roomDomain } from './configuration.ts';

export interface XmppOptions {
  base: string;
  agent: number;
  role: Role;
  /** The room of a member. */
  room: string;
  onMessage: (number: number) => void;
  onLost: (reason: Error) => void;
}

const namespaces = {
  framing: 'urn:ietf:params:xml:ns:xmpp-framing',
  sasl: 'urn:ietf:params:xml:ns:xmpp-sasl',
  bind: 'urn:ietf:params:xml:ns:xmpp-bind',
  acknowledgements: 'urn:xmpp:sm:3',
  rooms: 'http://jabber.org/protocol/muc',
  roomOwner: 'http://jabber.org/protocol/muc#owner',
  form: 'jabber:x:data',
};
const signInMs = 20_000;
const marker = Buffer.from('<body>#');
const openFrame = `<open xmlns='${namespaces.framing}' to='${domain}' version='1.0'/>`;
const requestFrame = `<r xmlns='${namespaces.acknowledgements}'/>`;

export const userName = (agent: number): string => `agent${agent}`;
export const passwordOf = (agent: number): string => `secret-${agent}`;

/** How many stanzas the server has taken, in a frame that answers a request for acknowledgement (XEP-0198); null for other frames. */
export function readTakenCount(frame: string): number | null {
  const count = /^<a\s[^>]*\bh=['"](\d+)['"]/.exec(frame)?.[1];
  return count === undefined ? null : Number(count);
}

/** Collects frames for a conversation in which each step waits for one kind of frame. */
export function createFrameQueue() {
  const frames: string[] = [];
  let wake = () => undefined as void;
  let end: Error | undefined;
  return {
    add(frame: string): void {
      frames.push(frame);
      wake();
    },
    /** Nothing more arrives. */
    end(reason: Error): void {
      end = reason;
      wake();
    },
    /** The next frame that matches; frames before it are dropped. @throws when the server refuses, and the reason of `end` */
    async take(matches: (frame: string) => boolean): Promise<string> {
      for (;;) {
        const frame = frames.shift();
        if (frame === undefined) {
          if (end) throw end;
          await new Promise<void>((resolve) => (wake = resolve));
        } else if (isRefusal(frame)) {
          throw new Error(`ejabberd refused: ${frame.slice(0, 300)}`);
        } else if (matches(frame)) {
          return frame;
        }
      }
    },
  };
}

const isRefusal = (frame: string) =>
  /^<(?:failure|stream:error|close)\b/.test(frame) || /^<(?:iq|presence)\b[^>]*type=['"]error/.test(frame);

const startsWith = (text: string) => (frame: string) => frame.startsWith(text);

/**
 * Opens a client of XMPP over WebSocket (RFC 7395) that signs in with its password and is available for messages.
 * @throws when the server closes the socket before that, or does not answer in 20 seconds: about one time in 16,000, ejabberd 23.01 answers
 * a handshake and reads no frame after it, until it closes the socket after 30 seconds
 */
export async function openXmppConnection(options: XmppOptions): Promise<Connection> {
  const { base, agent, role, room, onMessage, onLost } = options;
  const queue = createFrameQueue();
  /** Called in their order when the server has confirmed the messages. */
  const unconfirmed: (() => void)[] = [];
  let isSignedIn = false;
  let confirmed = 0;
  let receivedStanzas = 0;

  function onFrame(frame: Buffer): void {
    const number = readNumber(frame, marker);
    if (number !== null) onMessage(number);
    if (isSignedIn && role !== 'sender') return;
    const text = frame.toString();
    if (/^<(?:message|iq|presence)\b/.test(text)) receivedStanzas += 1;
    const taken = readTakenCount(text);
    if (taken !== null) confirm(taken);
    else if (text.startsWith('<r ')) answerRequest();
    else if (!isSignedIn) queue.add(text);
  }
  function confirm(taken: number): void {
    for (; confirmed < taken; confirmed += 1) unconfirmed.shift()?.();
  }
  function answerRequest(): void {
    socket.send(`<a xmlns='${namespaces.acknowledgements}' h='${receivedStanzas}'/>`);
  }

  const socket = await openLightSocket({
    base,
    path: '/ws',
    protocol: 'xmpp',
    onFrame,
    onLost: (reason) => (isSignedIn ? onLost(reason) : queue.end(reason)),
  });
  const timer = setTimeout(() => queue.end(new Error('the server did not answer a sign-in')), signInMs);
  try {
    await signIn(socket.send, queue, agent);
    if (role === 'member') await joinRoom(socket.send, queue, { room, agent });
    if (role === 'sender') {
      socket.send(`<enable xmlns='${namespaces.acknowledgements}'/>`);
      await queue.take(startsWith('<enabled'));
      receivedStanzas = 0;
    }
    isSignedIn = true;
  } catch (error) {
    socket.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }

  const to = role === 'member' ? `${room}@${roomDomain}` : `${userName(agent + 1)}@${domain}`;
  const type = role === 'member' ? 'groupchat' : 'chat';
  return {
    send(number) {
      const body = `<body>${buildNumberedContent(number)}</body>`;
      socket.send(
        `<message xmlns='jabber:client' type='${type}' to='${to}' id='m${number}'>${body}</message>`,
      );
      if (role !== 'sender') return Promise.resolve();
      socket.send(requestFrame);
      return new Promise((resolve) => unconfirmed.push(resolve));
    },
    close: () => socket.close(),
  };
}

type Send = (text: string) => void;
type FrameQueue = ReturnType<typeof createFrameQueue>;

async function signIn(send: Send, queue: FrameQueue, agent: number): Promise<void> {
  send(openFrame);
  await queue.take(startsWith('<stream:features'));
  const credentials = Buffer.from(`\0${userName(agent)}\0${passwordOf(agent)}`).toString('base64');
  send(`<auth xmlns='${namespaces.sasl}' mechanism='PLAIN'>${credentials}</auth>`);
  await queue.take(startsWith('<success'));
  send(openFrame);
  await queue.take(startsWith('<stream:features'));
  send(`<iq xmlns='jabber:client' type='set' id='bind'><bind xmlns='${namespaces.bind}'/></iq>`);
  await queue.take(startsWith('<iq'));
  send(`<presence xmlns='jabber:client'/>`);
  await queue.take(startsWith('<presence'));
}

/** The first member creates the room, which is locked until its owner accepts the default configuration (XEP-0045). */
async function joinRoom(
  send: Send,
  queue: FrameQueue,
  { room, agent }: { room: string; agent: number },
): Promise<void> {
  const address = `${room}@${roomDomain}`;
  const join = `<x xmlns='${namespaces.rooms}'><history maxstanzas='0'/></x>`;
  send(`<presence xmlns='jabber:client' to='${address}/${userName(agent)}'>${join}</presence>`);
  await queue.take((frame) => /^<presence\b/.test(frame) && /code=['"]110['"]/.test(frame));
  if (agent > 0) return;
  const form = `<x xmlns='${namespaces.form}' type='submit'/>`;
  const configure = `<query xmlns='${namespaces.roomOwner}'>${form}</query>`;
  send(`<iq xmlns='jabber:client' type='set' id='room' to='${address}'>${configure}</iq>`);
  await queue.take(startsWith('<iq'));
}
