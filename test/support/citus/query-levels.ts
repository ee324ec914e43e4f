import { parseSync } from 'libpg-query';

// The parser's own types name every kind of node; the rules below need a few of them, at any depth.
// oxlint-disable-next-line typescript/no-explicit-any
type Tree = any;

/** One use of a table in a statement. */
export interface Use {
  table: string;
  id: string;
}

/** One SELECT, INSERT, UPDATE or DELETE within a statement: what it joins, and what it says about rows. */
export interface Level {
  parent: Level | undefined;
  items: Map<string, Item>;
  uses: Use[];
  /** The outer levels whose columns it reads. */
  correlatedWith: Set<Level>;
  hasRowLock: boolean;
  /** `ctid` and `xmin`, where it reads them. */
  systemColumns: Set<string>;
  isModifyingCte: boolean;
  isRecursive: boolean;
  /** The columns that an UPDATE assigns. */
  assigned: string[];
  /** The columns of ON CONFLICT. */
  conflict: string[] | undefined;
}

/** A table, or a subquery, common table expression or function. */
interface Item {
  /** The origin of its columns, by name. */
  outputs: Map<string, string>;
  /** It has other columns too, of which nothing is known. */
  isOpaque: boolean;
}

const systemColumns = ['ctid', 'xmin'];

const namesOf = (targets: Tree[] | undefined): string[] =>
  (targets ?? []).map(({ ResTarget }: Tree) => ResTarget.name);

const unknownItem = (): Item => ({ outputs: new Map(), isOpaque: true });

type Ctes = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** What a statement reads and writes, and which of its columns and values are equal. */
export class QueryLevels {
  readonly levels: Level[] = [];
  private readonly leaders = new Map<string, string>();
  private readonly columns: ReadonlyMap<string, readonly string[]>;

  constructor(text: string, columns: ReadonlyMap<string, readonly string[]>) {
    this.columns = columns;
    const { stmts = [] } = parseSync(text) as Tree;
    for (const { stmt } of stmts) this.readQuery(stmt, undefined, new Map());
  }

  get uses(): Use[] {
    return this.levels.flatMap(({ uses }) => uses);
  }

  /** The name of the class of equal columns and values that a column is in. */
  classOf(key: string): string {
    const next = this.leaders.get(key);
    return next === undefined || next === key ? key : this.classOf(next);
  }

  /** Whether a column is equal to a value of the call. */
  isPinned(key: string): boolean {
    return [...this.leaders.keys()].some(
      (other) => other.startsWith('value ') && this.classOf(other) === this.classOf(key),
    );
  }

  private equate(one: string | undefined, other: string | undefined): void {
    if (one === undefined || other === undefined) return;
    for (const key of [one, other]) if (!this.leaders.has(key)) this.leaders.set(key, key);
    this.leaders.set(this.classOf(one), this.classOf(other));
  }

  private addUse(level: Level, table: string, alias: string): Use | undefined {
    const columns = this.columns.get(table);
    if (!columns && !table.startsWith('pg_')) throw new Error(`the schema has no table ${table}`);
    if (!columns) return undefined;
    const use = { table, id: `${alias} ${this.uses.length}` };
    level.uses.push(use);
    level.items.set(alias, {
      isOpaque: false,
      outputs: new Map([...columns, ...systemColumns].map((name) => [name, `${use.id}.${name}`])),
    });
    return use;
  }

  /** Returns the origin of each column that the query returns. */
  private readQuery(node: Tree, parent: Level | undefined, ctes: Ctes): Map<string, string> {
    const [kind, query] = (Object.entries(node)[0] ?? ['', undefined]) as [string, Tree];
    const level: Level = {
      parent,
      items: new Map(),
      uses: [],
      correlatedWith: new Set(),
      hasRowLock: query?.lockingClause !== undefined,
      systemColumns: new Set(),
      isModifyingCte: false,
      isRecursive: query?.withClause?.recursive === true,
      assigned: [],
      conflict: undefined,
    };
    this.levels.push(level);
    const known = this.readCtes(query?.withClause?.ctes ?? [], parent, ctes);
    if (kind === 'SelectStmt' && query.op !== 'SETOP_NONE') {
      for (const arm of [query.larg, query.rarg]) this.readQuery({ SelectStmt: arm }, parent, known);
      return new Map();
    }
    if (kind === 'InsertStmt') return this.readInsert(query, level, known);
    if (query?.relation) {
      const { relname, alias } = query.relation;
      this.addUse(level, relname, alias?.aliasname ?? relname);
      if (kind === 'UpdateStmt') level.assigned = namesOf(query.targetList);
    }
    for (const from of query?.fromClause ?? query?.usingClause ?? []) this.readFrom(from, level, known);
    this.readCondition(query?.whereClause, level, known);
    const readAbove = new Set(['withClause', 'fromClause', 'usingClause', 'whereClause', 'relation']);
    for (const [name, part] of Object.entries(query ?? {}))
      if (!readAbove.has(name)) this.readExpression(part, level, known);
    return this.readOutputs(query?.targetList ?? [], level);
  }

  private readCtes(list: Tree[], parent: Level | undefined, ctes: Ctes): Ctes {
    const known = new Map(ctes);
    for (const { CommonTableExpr: cte } of list) {
      // PostgreSQL joins nothing through an expression that is materialized or changes rows. A recursive one sees itself.
      known.set(cte.ctename, new Map());
      const before = this.levels.length;
      const outputs = this.readQuery(cte.ctequery, parent, known);
      const isSelect = cte.ctequery.SelectStmt !== undefined;
      const first = this.levels[before];
      if (first && !isSelect) first.isModifyingCte = true;
      if (isSelect && cte.ctematerialized !== 'CTEMaterializeAlways') known.set(cte.ctename, outputs);
    }
    return known;
  }

  private readInsert(query: Tree, level: Level, ctes: Ctes): Map<string, string> {
    const { relname, alias } = query.relation;
    const use = this.addUse(level, relname, alias?.aliasname ?? relname);
    const names = namesOf(query.cols);
    level.conflict = query.onConflictClause?.infer?.indexElems?.map(({ IndexElem }: Tree) => IndexElem.name);
    const rows: Tree[] = query.selectStmt?.SelectStmt?.valuesLists ?? [];
    if (use && rows.length === 1)
      rows[0].List.items.forEach((value: Tree, position: number) =>
        this.equate(`${use.id}.${names[position]}`, this.keyOf(value, level)),
      );
    if (query.selectStmt) {
      const outputs = [...this.readQuery(query.selectStmt, undefined, ctes).values()];
      if (use && outputs.length === names.length)
        names.forEach((name, position) => this.equate(`${use.id}.${name}`, outputs[position]));
    }
    return this.readOutputs(query.returningList ?? [], level);
  }

  private readFrom(node: Tree, level: Level, ctes: Ctes): string[] {
    if (node.RangeVar) {
      const { relname, alias } = node.RangeVar;
      const name = alias?.aliasname ?? relname;
      const cte = ctes.get(relname);
      if (cte) level.items.set(name, { outputs: new Map(cte), isOpaque: cte.size === 0 });
      else if (!this.addUse(level, relname, name)) level.items.set(name, unknownItem());
      return [name];
    }
    if (node.RangeSubselect) {
      const { subquery, alias } = node.RangeSubselect;
      const outputs = this.readQuery(subquery, level, ctes);
      const names: string[] = (alias?.colnames ?? []).map(({ String: text }: Tree) => text.sval);
      const renamed = [...outputs].map(([name, key], position) => [names[position] ?? name, key] as const);
      level.items.set(alias?.aliasname ?? '', { outputs: new Map(renamed), isOpaque: renamed.length === 0 });
      return [alias?.aliasname ?? ''];
    }
    if (node.JoinExpr) {
      const { larg, rarg, usingClause = [], quals } = node.JoinExpr;
      const left = this.readFrom(larg, level, ctes);
      const right = this.readFrom(rarg, level, ctes);
      for (const { String: column } of usingClause)
        this.equate(this.findIn(level, left, column.sval), this.findIn(level, right, column.sval));
      this.readCondition(quals, level, ctes);
      return [...left, ...right];
    }
    this.readExpression(node, level, ctes);
    const name = node.RangeFunction?.alias?.aliasname ?? '';
    level.items.set(name, unknownItem());
    return [name];
  }

  /** Conditions that all must hold. Others say nothing about equality. */
  private readCondition(node: Tree, level: Level, ctes: Ctes): void {
    if (node?.BoolExpr?.boolop === 'AND_EXPR') {
      for (const part of node.BoolExpr.args) this.readCondition(part, level, ctes);
      return;
    }
    const comparison = node?.A_Expr;
    if (comparison?.kind === 'AEXPR_OP' && comparison.name[0].String.sval === '=') {
      const [left, right] = [comparison.lexpr, comparison.rexpr].map(
        (side: Tree) => side.RowExpr?.args ?? [side],
      );
      left.forEach((side: Tree, position: number) =>
        this.equate(this.keyOf(side, level), this.keyOf(right[position], level)),
      );
    }
    this.readExpression(node, level, ctes);
  }

  /** Finds subqueries and columns at any depth. */
  private readExpression(node: Tree, level: Level, ctes: Ctes): void {
    if (typeof node !== 'object' || node === null) return;
    if (node.SubLink) {
      this.readExpression(node.SubLink.testexpr, level, ctes);
      this.readQuery(node.SubLink.subselect, level, ctes);
      return;
    }
    if (node.ColumnRef) this.keyOf(node, level);
    else for (const part of Object.values(node)) this.readExpression(part, level, ctes);
  }

  /** The name of a column or of a value of the call; undefined for other expressions. */
  private keyOf(node: Tree, level: Level): string | undefined {
    if (node?.TypeCast) return this.keyOf(node.TypeCast.arg, level);
    if (node?.ParamRef) return `value $${node.ParamRef.number}`;
    if (node?.A_Const) return `value ${JSON.stringify(node.A_Const)}`;
    if (!node?.ColumnRef) return undefined;
    const names: string[] = node.ColumnRef.fields.map((field: Tree) => field.String?.sval ?? '*');
    const column = names.at(-1) ?? '';
    const alias = names.length > 1 ? names.at(-2) : undefined;
    for (let at: Level | undefined = level; at; at = at.parent) {
      const found = this.findIn(at, alias === undefined ? [...at.items.keys()] : [alias], column);
      const isHere = found !== undefined || (alias !== undefined && at.items.has(alias));
      if (!isHere) continue;
      if (systemColumns.includes(column)) at.systemColumns.add(column);
      this.correlate(level, at);
      return found;
    }
    // It is a column of something of which nothing is known.
    for (let at: Level | undefined = level; at; at = at.parent)
      if ([...at.items.values()].some(({ isOpaque }) => isOpaque)) {
        this.correlate(level, at);
        break;
      }
    return undefined;
  }

  private correlate(from: Level, outer: Level): void {
    for (let at = from; at !== outer && at.parent; at = at.parent) at.correlatedWith.add(outer);
  }

  private findIn(level: Level, aliases: readonly string[], column: string): string | undefined {
    return aliases
      .map((alias) => level.items.get(alias)?.outputs.get(column))
      .find((key) => key !== undefined);
  }

  private readOutputs(targets: Tree[], level: Level): Map<string, string> {
    const outputs = new Map<string, string>();
    targets.forEach(({ ResTarget: { name, val } = {} as Tree }: Tree, position) => {
      const fields: Tree[] = val?.ColumnRef?.fields ?? [];
      if (fields.at(-1)?.A_Star) {
        const aliases = fields.length > 1 ? [fields[0].String.sval as string] : [...level.items.keys()];
        for (const alias of aliases)
          for (const [column, key] of level.items.get(alias)?.outputs ?? [])
            if (!systemColumns.includes(column)) outputs.set(column, key);
        return;
      }
      const key = this.keyOf(val, level);
      const column = name ?? fields.at(-1)?.String?.sval ?? `column ${position}`;
      outputs.set(column, key ?? `expression ${this.levels.length} ${position}`);
    });
    return outputs;
  }
}
