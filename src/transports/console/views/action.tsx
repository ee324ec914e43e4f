import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ErrorNotice } from '../components/content.tsx';

/** An action of a view: one runs at a time, and the error of the last one is shown. */
export interface Action {
  isBusy: boolean;
  error: string | undefined;
  run(action: () => Promise<void>): void;
}

/** Creates the state of the actions of a view. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  return {
    isBusy,
    error,
    run(action) {
      if (isBusy) return;
      setBusy(true);
      setError(undefined);
      action()
        .catch((thrown: unknown) => setError(thrown instanceof Error ? thrown.message : String(thrown)))
        .finally(() => setBusy(false));
    },
  };
}

interface ActionButtonProps {
  of: Action;
  onPress: () => Promise<void>;
  kind?: 'primary' | 'quiet';
  children: ComponentChildren;
}

/** A button that runs an action. */
export function ActionButton({ of, onPress, kind = 'quiet', children }: ActionButtonProps) {
  return (
    <button type="button" class={`button ${kind}`} aria-disabled={of.isBusy} onClick={() => of.run(onPress)}>
      {children}
    </button>
  );
}

/** The error of the last action. */
export const ActionError = ({ of }: { of: Action }) => <ErrorNotice message={of.error} />;
