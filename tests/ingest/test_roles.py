import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.errors import InputError
from graphstore.model import ROLES
from ingest.roles import Patterns, RoleTable, words


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("WebSurfer", "web surfer"),
        ("web_surfer", "web surfer"),
        ("HTTPServer2", "http server2"),
        ("Devil's Advocate", "devils advocate"),
        ("DataVerification_Expert", "data verification expert"),
        ("  Code-Reviewer ", "code reviewer"),
        ("Größe", "grösse"),
        ("", ""),
    ],
)
def test_words(name, expected):
    assert words(name) == expected


@pytest.mark.parametrize(
    ("role", "names"),
    [
        ("orchestrator", "Orchestrator MagenticOneOrchestrator supervisor chat_manager CEO"),
        ("specialist", "WebSurfer Websurfer FileSurfer Python_Expert LogicExpert Chess_Expert"),
        ("specialist", "Environment_Expert Python_Programmer_Expert Quotation_Specialist"),
        ("executor", "ComputerTerminal Computer_terminal Executor code_executor"),
        (
            "verifier",
            "Verification_Expert Validation_Expert checking_expert VerificationExpert",
        ),
        (
            "verifier",
            "DataVerification_Expert VerificationExpert Tester QAEngineer FactChecker",
        ),
        ("solver", "Assistant Coder Programmer solver worker Solver_3 agent_b Agent2 CTO"),
        ("planner", "Planner TaskPlanner planning_agent trip_planner ProductManager"),
        ("critic", "Critic CodeReviewer Reviewer critic_2"),
        ("proposer", "debater Debater_1 proposer Affirmative"),
        ("aggregator", "Judge Summarizer aggregator FinalAggregator synthesizer"),
        ("human", "user User human UserProxy user_proxy_agent customer"),
        ("environment", "system environment env"),
        ("tool", "tool web_search calculator search_tool"),
        ("unknown", "Zanzibar Lena x 7"),
    ],
)
def test_the_shipped_table(role, names):
    table = RoleTable.default()
    assert {name: table.role_of(name) for name in names.split()} == dict.fromkeys(
        names.split(), role
    )


def test_names_with_spaces_are_known_too():
    table = RoleTable.default()
    assert table.role_of("Chief Executive Officer") == "orchestrator"
    assert table.role_of("Code Reviewer") == "critic"
    assert table.role_of("Software Test Engineer") == "verifier"
    assert table.role_of("Senior Sales Analyst") == "specialist"


def test_the_role_names_of_the_frameworks():
    table = RoleTable.default()
    expected = {
        "orchestrator": "Chief Executive Officer,Counselor,Chief Human Resource Officer,"
        "ProjectManager,SelectorGroupChatManager,MagenticOneOrchestrator,Crew Manager,"
        "role assigner,root_agent,SequentialAgent,supervisor_agent,manager_agent,AI User",
        "planner": "Chief Product Officer,ProductManager,Architect,Task Specifier,replan",
        "solver": "Programmer,Chief Technology Officer,Engineer,primary,Claude Code,codex,"
        "general-purpose,gpt5nano,gemini2.5flash,grok3,4omini,travel_agent,AI Assistant",
        "specialist": "WebSurfer,MultimodalWebSurfer,FileSurfer,TavilyAgent,Wiki Searcher,"
        "Chief Creative Officer,DataAnalyst,Reporting Analyst,flights_refunder,Math Tutor",
        "executor": "ComputerTerminal,_Group_Tool_Executor,PythonAgent,DataInterpreter",
        "critic": "Code Reviewer,Critic 0,ReflectAgent,evaluator_agent,ReviewAgent,scorer",
        "verifier": "Software Test Engineer,QaEngineer,checking_agent,Quality Manager",
        "aggregator": "SummarizerAgent,ConcluderAgent,judge_agent,Ranker,FinalDecision",
        "human": "user_proxy,UserProxyAgent,RetrieveUserProxyAgent,human_node",
        "tool": "tools",
    }
    found = {
        role: [name for name in names.split(",") if table.role_of(name) != role]
        for role, names in expected.items()
    }
    assert found == {role: [] for role in expected}


def test_an_agent_is_no_tool_by_the_name_before_the_word():
    table = RoleTable.default()
    for name in ("bash_agent", "MemoryAgent", "ClientAgent", "SomeToolAgent"):
        assert table.role_of(name) == "solver"
    assert table.role_of("final_judge_agent_2") == "aggregator"


def test_every_shared_role_but_unknown_has_names():
    table = RoleTable.default()
    (shipped,) = table.layers
    assert set(shipped.names.values()) == set(ROLES) - {"unknown"}
    for role in set(ROLES) - {"unknown"}:
        assert table.role_of(role) == role


def test_unknown_names_are_remembered_with_their_counts():
    table = RoleTable.default()
    for name in ("Lena", "planner", "Lena", "Otto", ""):
        table.role_of(name)
    assert table.unknown == {"Lena": 2, "Otto": 1}
    assert RoleTable.default().unknown == {}


def test_a_users_file_comes_before_the_shipped_table(tmp_path):
    path = tmp_path / "roles.toml"
    path.write_text(
        '[names]\nplanner = ["Lena", "solver"]\n[patterns]\ncritic = ["grumpy *", "*Bot"]\n'
    )
    table = RoleTable.load(path)
    assert table.role_of("lena") == "planner"
    assert table.role_of("Solver") == "planner"
    assert table.role_of("GrumpyExpert") == "critic"
    assert table.role_of("chat_bot") == "critic"
    assert table.role_of("Bot") == "unknown"
    assert table.role_of("Chess_Expert") == "specialist"
    assert RoleTable.default().role_of("Solver") == "solver"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[names", "the role table is no TOML"),
        ('[names]\nboss = ["x"]', r"\[names\] has the unknown role 'boss'"),
        ('[nams]\nplanner = ["x"]', r"the unknown part \[nams\]"),
        ('[names]\nplanner = "x"', "must be a list of names"),
        ("names = 3", "must list names by role"),
        ('[names]\nplanner = ["x"]\ncritic = ["X"]', "the name 'X' has two roles"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(tmp_path, text, reason):
    path = tmp_path / "roles.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=reason):
        RoleTable.load(path)


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        RoleTable.load(tmp_path / "none.toml")


WORDS = st.lists(st.sampled_from(["*", "a", "b", "expert", "agent"]), min_size=1, max_size=4)
NAME_WORDS = st.lists(st.sampled_from(["a", "b", "expert", "agent"]), max_size=5)


@given(st.lists(WORDS, max_size=6), st.lists(NAME_WORDS, min_size=1, max_size=3))
def test_no_pattern_that_matches_is_passed_over(patterns, names):
    texts = [" ".join(pattern) for pattern in patterns]
    forms = [" ".join(name) for name in names]
    roles = [ROLES[place % len(ROLES)] for place in range(len(texts))]
    tried = [
        (pattern.pattern, role)
        for pattern, role in Patterns(zip(texts, roles, strict=True)).possible(forms)
        if any(pattern.fullmatch(form) for form in forms)
    ]
    expected = []
    for text, role in zip(texts, roles, strict=True):
        pattern = re.escape(text).replace(r"\*", ".+")
        if any(re.fullmatch(pattern, form) for form in forms):
            expected.append((pattern, role))
    assert tried == expected


def test_a_name_longer_than_those_that_are_kept_has_its_role_too():
    table = RoleTable.default()
    assert table.role_of("Very " * 100 + "Critic") == "critic"
    assert table.role_of("Very " * 100 + "Zanzibar") == "unknown"
