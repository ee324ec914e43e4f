/** How long a process that says nothing is taken to live, in milliseconds: a few of its beats. */
const leaseMs = 15_000;

/** The database's own clock: those of the processes may differ by more than a lease. */
export const databaseNow = `(extract(epoch from statement_timestamp()) * 1000)::bigint`;

/** Of `presence_nodes n`: the process lives. */
export const isAlive = `n.seen_at > ${databaseNow} - ${leaseMs}`;

/** Of `agents a`: whether a living process holds a stream or a waiting call of it. */
export const isOnline = `exists (select from presence p join presence_nodes n on n.id = p.node_id
   where p.agent_id = a.id and ${isAlive}) as is_online`;
