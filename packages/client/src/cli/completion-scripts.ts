export const shells = ['bash', 'zsh', 'fish'] as const;

/** A command with what can follow it. */
export interface CompletionWord {
  name: string;
  description: string;
  options: readonly string[];
  children: readonly string[];
}

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The completion script of a shell for a program with these commands. */
export function createCompletionScript(
  shell: (typeof shells)[number],
  program: string,
  words: readonly CompletionWord[],
): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](program, words);
}

const following = ({ children, options }: CompletionWord): string => [...children, ...options].join(' ');

function bashScript(program: string, words: readonly CompletionWord[]): string {
  const cases = words.map((word) => `    ${word.name}) words=${quote(following(word))} ;;`);
  const names = words.map(({ name }) => name).join(' ');
  return `# bash completion of ${program}
_${program}() {
  local words current="\${COMP_WORDS[COMP_CWORD]}"
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words=${quote(names)} ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && words=${quote(names)}
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ \${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "$current"))
}
complete -F _${program} ${program}
`;
}

function zshScript(program: string, words: readonly CompletionWord[]): string {
  const commands = words.map(({ name, description }) => `    ${quote(`${name}:${description}`)}`);
  const cases = words.map((word) => `    ${word.name}) compadd -- ${following(word)}; _files ;;`);
  return `#compdef ${program}
_${program}() {
  local -a commands
  commands=(
${commands.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case "$words[2]" in
${cases.join('\n')}
  esac
}
compdef _${program} ${program}
`;
}

function fishScript(program: string, words: readonly CompletionWord[]): string {
  const lines = words.flatMap(({ name, description, options, children }) => [
    `complete -c ${program} -n __fish_use_subcommand -a ${name} -d ${quote(description)}`,
    ...options.map(
      (option) =>
        `complete -c ${program} -n '__fish_seen_subcommand_from ${name}' -l ${option.replace(/^--/, '')}`,
    ),
    ...children.map((child) => `complete -c ${program} -n '__fish_seen_subcommand_from ${name}' -a ${child}`),
  ]);
  return `# fish completion of ${program}\n${lines.join('\n')}\n`;
}
