const shapes = {
  alert: 'M12 4.5 3.5 19.5h17L12 4.5zM12 10v4.5M12 17.2v.1',
  arrow: 'M5 12h13M13 6.5l5.5 5.5-5.5 5.5',
  back: 'M19 12H6M11 6.5 5.5 12l5.5 5.5',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  computer: 'M4 5.5h16v10.5H4zM9 20h6M12 16v4',
  globe:
    'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM3.5 12h17M12 3.5c5 5 5 12 0 17M12 3.5c-5 5-5 12 0 17',
  key: 'M8.5 11.5a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM11.5 12.5 20 4M16 8l3 3',
  shield: 'M12 3.5 5 6v5.5c0 4.5 3 7.5 7 9 4-1.5 7-4.5 7-9V6l-7-2.5z',
} as const;

export type IconName = keyof typeof shapes;

/** A decorative icon, hidden from screen readers. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false">
      <path d={shapes[name]} />
    </svg>
  );
}
