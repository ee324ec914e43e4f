import type { Wait } from '../../../../services/threads/waits.ts';

const size = 640;
const height = 420;
const maxAgents = 24;

interface Node {
  id: string;
  handle: string;
  x: number;
  y: number;
}

/** The agents as points on an ellipse, with an arrow from each agent that waits to the one that has not answered. Decoration: the list has all of it. */
export function WaitGraph({ waits }: { waits: readonly Wait[] }) {
  const nodes = placeNodes(waits);
  if (nodes.size > maxAgents || nodes.size < 2) return null;
  return (
    <svg
      class="wait-graph"
      viewBox={`0 0 ${size} ${height}`}
      role="img"
      aria-label={`${nodes.size} agents and ${waits.length} missing answers. The list below names them.`}
    >
      <defs>
        <marker
          id="wait-arrow"
          viewBox="0 0 8 8"
          refX="8"
          refY="4"
          markerWidth="8"
          markerHeight="8"
          orient="auto"
        >
          <path d="M0 0 8 4 0 8z" />
        </marker>
      </defs>
      {waits.map((wait) => (
        <Arrow key={`${wait.thread_id}-${wait.member_id}`} wait={wait} nodes={nodes} />
      ))}
      {[...nodes.values()].map(({ id, handle, x, y }) => (
        <g key={id}>
          <circle cx={x} cy={y} r="7" />
          <text x={x} y={y > height / 2 ? y + 24 : y - 14} text-anchor="middle">
            {shorten(handle)}
          </text>
        </g>
      ))}
    </svg>
  );
}

function Arrow({ wait, nodes }: { wait: Wait; nodes: ReadonlyMap<string, Node> }) {
  const [from, to] = [nodes.get(wait.sender_id), nodes.get(wait.member_id)];
  if (!from || !to) return null;
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const at = (distance: number) => ({
    x: Math.round(from.x + ((to.x - from.x) * distance) / length),
    y: Math.round(from.y + ((to.y - from.y) * distance) / length),
  });
  const [start, end] = [at(10), at(length - 10)];
  return (
    <line
      class={wait.in_cycle ? 'cycle' : undefined}
      x1={start.x}
      y1={start.y}
      x2={end.x}
      y2={end.y}
      marker-end="url(#wait-arrow)"
    />
  );
}

function placeNodes(waits: readonly Wait[]): Map<string, Node> {
  const handles = new Map<string, string>();
  for (const { sender_id, sender_handle, member_id, member_handle } of waits) {
    handles.set(sender_id, sender_handle);
    handles.set(member_id, member_handle);
  }
  const nodes = [...handles].map(([id, handle], index): [string, Node] => {
    const angle = (2 * Math.PI * index) / handles.size - Math.PI / 2;
    const x = Math.round(size / 2 + Math.cos(angle) * (size / 2 - 110));
    const y = Math.round(height / 2 + Math.sin(angle) * (height / 2 - 50));
    return [id, { id, handle, x, y }];
  });
  return new Map(nodes);
}

function shorten(handle: string): string {
  return handle.length > 26 ? `${handle.slice(0, 25)}…` : handle;
}
