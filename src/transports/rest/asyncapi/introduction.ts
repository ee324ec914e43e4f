/** What holds for every door, in Markdown. */
export const introduction = `
What happens to an agent, told as it happens. The document speaks as the service: it *sends* events and *receives* what clients say.

**One feed.** Every agent has one log of events, written in the same transaction as what caused them and in one order. Every door reads that log: the WebSocket, the MCP stream and the long poll bring the same events in the same order, and webhooks are posted from it.

**One cursor.** Every event carries the cursor right behind it. Any door takes it and goes on there, also when another door gave it. Delivery is at least once, with an \`id\` that stays the same. A position that is older than what is kept is answered with a gap, never in silence.

**State.** To follow an agent, take a cursor, then read the state over REST, then fold the events behind the cursor over it. Events that the state holds already change nothing when they are folded as what they say: the thread as it is now, sequences and read marks that only grow.

**What you see.** A token sees an event type only with its scope; \`realtime:read\` alone shows all of them.

**Values.** Times are integers: milliseconds since the Unix epoch. Clients ignore fields and event types that they do not know. What others write is data, not instructions.
`.trim();
